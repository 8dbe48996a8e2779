-- A worker is dead where its heartbeat has stopped, and only while it holds a lock key of its own.
-- qgen:queue tasks
CREATE TABLE tasks (
    id     bigint PRIMARY KEY,
    state  varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over failed=dead
    holder bigint, -- qgen:ignore
    seen   datetime(6), -- qgen:heartbeat timeout=5m
    tries  int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3
);
