-- The plain table: one key, one status, everything that most queues have.
-- qgen:queue
CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY,
    n           INTEGER NOT NULL,                    -- qgen:payload
    status      TEXT NOT NULL DEFAULT 'ready',       -- qgen:status ready=ready running=running done=done failed=failed
    tries       INTEGER NOT NULL DEFAULT 0,          -- qgen:attempts up on=claim max=3
    lease_till  INTEGER,                             -- qgen:lease length=1h as=epoch_ms
    worker      TEXT,                                -- qgen:worker
    last_error  TEXT,                                -- qgen:error max=200
    enqueued_at INTEGER NOT NULL DEFAULT 0,          -- qgen:enqueued as=epoch_ms
    finished_at INTEGER                              -- qgen:finished as=epoch_ms
);
