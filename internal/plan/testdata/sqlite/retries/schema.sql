-- The count is of the retries that are left: a job at 0, or without a count, runs once.
-- qgen:queue jobs
CREATE TABLE jobs (
    id      INTEGER PRIMARY KEY,
    state   TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    since   TEXT,                        -- qgen:claimed timeout=5m as=text:2006-01-02T15:04:05.000Z
    retries INTEGER,                     -- qgen:attempts down limit=fail null=0
    body    TEXT NOT NULL
);
