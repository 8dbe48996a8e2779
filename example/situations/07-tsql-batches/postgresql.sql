-- The T-SQL queue of mssql.sql on PostgreSQL.
-- qgen:queue
CREATE TABLE task_queue (
    id         bigserial PRIMARY KEY,
    status     smallint NOT NULL DEFAULT 0,        -- qgen:status ready=0 running=9 done=1 failed=2
    priority   smallint NOT NULL DEFAULT 0,        -- qgen:priority desc
    data       text NOT NULL,                      -- qgen:payload
    tm_enqueue timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued; order 2
    tm_process timestamptz,                        -- qgen:claimed timeout=15m
    tm_finish  timestamptz                         -- qgen:finished
);
CREATE INDEX task_queue_ready ON task_queue (priority DESC, tm_enqueue, id) WHERE status = 0;
