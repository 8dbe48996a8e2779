-- The T-SQL queue of mssql.sql on SQLite. Times are milliseconds since 1970.
-- qgen:queue
CREATE TABLE task_queue (
    id         INTEGER PRIMARY KEY,
    status     INTEGER NOT NULL DEFAULT 0,         -- qgen:status ready=0 running=9 done=1 failed=2
    priority   INTEGER NOT NULL DEFAULT 0,         -- qgen:priority desc
    data       TEXT NOT NULL,                      -- qgen:payload
    tm_enqueue INTEGER NOT NULL,                   -- qgen:enqueued as=epoch_ms; order 2
    tm_process INTEGER,                            -- qgen:claimed timeout=15m as=epoch_ms
    tm_finish  INTEGER                             -- qgen:finished as=epoch_ms
);
CREATE INDEX task_queue_ready ON task_queue (priority DESC, tm_enqueue, id) WHERE status = 0;
