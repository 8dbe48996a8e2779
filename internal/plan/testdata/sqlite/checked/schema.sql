-- A CHECK wants a text where a job failed, and a time where it ended.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    state    TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    tries    INTEGER NOT NULL DEFAULT 0,  -- qgen:attempts up on=retry max=2
    problem  TEXT CHECK (length(trim(problem)) > 0), -- qgen:error max=40
    ended_at INTEGER,                     -- qgen:finished as=epoch also_failed; on redrive set null
    body     TEXT NOT NULL,
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (state <> 'failed' OR problem IS NOT NULL)
);
