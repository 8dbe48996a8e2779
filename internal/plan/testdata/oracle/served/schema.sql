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
