-- What narrows a claim narrows the figures as well: one value, some of several, any where the caller says none,
-- and rows that suit every caller.
-- qgen:queue
CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY,
    queue  TEXT NOT NULL,                  -- qgen:topic
    kind   TEXT NOT NULL,                  -- qgen:topic list
    tenant INTEGER NOT NULL DEFAULT 0,     -- qgen:topic optional
    node   TEXT,                           -- qgen:topic any=null
    state  TEXT NOT NULL DEFAULT 'new',    -- qgen:status ready=new running=busy done=over
    due    INTEGER,                        -- qgen:due as=epoch
    till   INTEGER                         -- qgen:lease as=epoch length=5m
);
CREATE INDEX tasks_queue ON tasks (queue);
