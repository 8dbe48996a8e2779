-- The key would have the server sort all ready rows; an index with the time gives its order.
-- qgen:queue tasks
CREATE TABLE tasks (
    id     NUMBER(19) NOT NULL PRIMARY KEY,  -- qgen:on enqueue set "tasks_seq.NEXTVAL"
    state  NUMBER(2) NOT NULL,               -- qgen:status ready=0 running=1 done=2 failed=3
    due_at TIMESTAMP NOT NULL,               -- qgen:due; order 1
    kind   NUMBER(2) NOT NULL,
    till   TIMESTAMP                         -- qgen:lease length=5m
);
CREATE INDEX tasks_due ON tasks (state, due_at, kind);
-- What is sorted anyway is found by the time as well, so that rows that wait are not read. An index
-- without it would serve, and one that has it is taken.
-- qgen:queue exports
CREATE TABLE exports (
    id     NUMBER(19) NOT NULL PRIMARY KEY,  -- qgen:on enqueue set "exports_seq.NEXTVAL"
    device VARCHAR2(64) NOT NULL,            -- qgen:topic
    state  NUMBER(2) NOT NULL,               -- qgen:status ready=0|6 running=1 done=2 failed=3
    due_at TIMESTAMP NOT NULL                -- qgen:due; order 1
);
-- qgen:queue imports
CREATE TABLE imports (
    id     NUMBER(19) NOT NULL PRIMARY KEY,  -- qgen:on enqueue set "imports_seq.NEXTVAL"
    device VARCHAR2(64) NOT NULL,            -- qgen:topic
    state  NUMBER(2) NOT NULL,               -- qgen:status ready=0|6 running=1 done=2 failed=3
    due_at TIMESTAMP NOT NULL                -- qgen:due; order 1
);
CREATE INDEX imports_state ON imports (state, device);
CREATE INDEX imports_device ON imports (device, state, due_at);
-- Two columns together tell which rows run, and finished rows keep the time of their change: an index
-- that begins with these two leads to the rows that run, and one that begins with the time to all.
-- qgen:queue commands
CREATE TABLE commands (
    id      NUMBER(19) NOT NULL PRIMARY KEY,  -- qgen:on enqueue set "commands_seq.NEXTVAL"
    state   NUMBER(2) NOT NULL,               -- qgen:status ready=0|1 running=1 done=2 failed=3
    taken   NUMBER(1) NOT NULL,               -- qgen:status ready=0 running=1 done=0 failed=0
    changed DATE NOT NULL                     -- qgen:order 1; claimed timeout=30m expired=recover; on done,fail,enqueue set now
);
CREATE INDEX commands_state ON commands (state, taken, changed);
-- qgen:queue calls
CREATE TABLE calls (
    id      NUMBER(19) NOT NULL PRIMARY KEY,  -- qgen:on enqueue set "calls_seq.NEXTVAL"
    state   NUMBER(2) NOT NULL,               -- qgen:status ready=0|1 running=1 done=2 failed=3
    taken   NUMBER(1) NOT NULL,               -- qgen:status ready=0 running=1 done=0 failed=0
    changed DATE NOT NULL                     -- qgen:order 1; claimed timeout=30m expired=recover; on done,fail,enqueue set now
);
-- SQL tells ready rows, and rows that are done stay: an index leads to them by the topic and the status.
-- qgen:queue deliveries
CREATE TABLE deliveries (
    client  VARCHAR2(40) NOT NULL,                    -- qgen:topic
    file_id NUMBER(18) NOT NULL,                      -- qgen:order 2
    status  NUMBER(5) DEFAULT -2 NOT NULL,            -- qgen:status ready~"status = -2 or status > 0" ready:=-2 running=-1 done=0
    arrived TIMESTAMP(6) NOT NULL,                    -- qgen:order 1
    CONSTRAINT deliveries_pk PRIMARY KEY (client, file_id)
);
-- qgen:queue transfers
CREATE TABLE transfers (
    client  VARCHAR2(40) NOT NULL,                    -- qgen:topic
    file_id NUMBER(18) NOT NULL,                      -- qgen:order 2
    status  NUMBER(5) DEFAULT -2 NOT NULL,            -- qgen:status ready~"status = -2 or status > 0" ready:=-2 running=-1 done=0
    arrived TIMESTAMP(6) NOT NULL,                    -- qgen:order 1
    CONSTRAINT transfers_pk PRIMARY KEY (client, file_id)
);
CREATE INDEX transfers_status ON transfers (client, status, arrived);
