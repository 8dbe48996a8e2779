-- No status: three times that are null until it happened.
-- qgen:queue
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    n           INTEGER NOT NULL,                    -- qgen:payload
    started_at  INTEGER,                             -- qgen:status ready=null running=now as=epoch_ms
    finished_at INTEGER,                             -- qgen:status ready=null running=null done=now failed=null as=epoch_ms
    failed_at   INTEGER,                             -- qgen:status ready=null running=null done=null failed=now as=epoch_ms
    tries       INTEGER NOT NULL DEFAULT 0           -- qgen:attempts up on=claim max=3
);
