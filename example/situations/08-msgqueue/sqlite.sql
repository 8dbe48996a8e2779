-- MsgQueue of mssql.sql on SQLite. Times are milliseconds since 1970.
-- qgen:queue
CREATE TABLE msg_queue (
    msg_queue_id  INTEGER PRIMARY KEY,
    msg_type_code TEXT NOT NULL,              -- qgen:topic
    msg           TEXT NOT NULL,              -- qgen:payload
    state         TEXT NOT NULL DEFAULT 'N',  -- qgen:status ready=N running=A done=C failed=E
    create_time   INTEGER NOT NULL,           -- qgen:enqueued as=epoch_ms; order 1
    start_time    INTEGER,                    -- qgen:claimed timeout=10m as=epoch_ms
    end_time      INTEGER,                    -- qgen:finished as=epoch_ms
    reader_code   TEXT                        -- qgen:worker
);
CREATE INDEX msg_queue_new ON msg_queue (msg_type_code, create_time, msg_queue_id) WHERE state = 'N';
