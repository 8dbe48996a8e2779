-- Workers say which kind of job they want.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    kind       TEXT NOT NULL DEFAULT 'mail',         -- qgen:topic
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      INTEGER NOT NULL DEFAULT 0            -- qgen:attempts up on=claim max=3
);
