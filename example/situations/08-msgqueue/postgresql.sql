-- MsgQueue of mssql.sql on PostgreSQL.
-- qgen:queue
CREATE TABLE msg_queue (
    msg_queue_id  serial PRIMARY KEY,
    msg_type_code varchar(20) NOT NULL,               -- qgen:topic
    msg           text NOT NULL,                      -- qgen:payload
    state         char(1) NOT NULL DEFAULT 'N',       -- qgen:status ready=N running=A done=C failed=E
    create_time   timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued; order 1
    start_time    timestamptz,                        -- qgen:claimed timeout=10m
    end_time      timestamptz,                        -- qgen:finished
    reader_code   varchar(50)                         -- qgen:worker
);
CREATE INDEX msg_queue_new ON msg_queue (msg_type_code, create_time, msg_queue_id) WHERE state = 'N';
