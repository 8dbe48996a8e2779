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

-- Calls that wait are counted by what a claim says of them, but for the key and for what only begins with it, or is
-- less: of these there is no end. Columns may be called as figures are, and a call that somebody has is not counted
-- beside those that wait for their time.
-- qgen:queue done=delete
CREATE TABLE calls (
    id     INTEGER PRIMARY KEY, -- qgen:topic optional
    ready  TEXT,                -- qgen:topic any=null
    number TEXT NOT NULL,       -- qgen:topic prefix
    cost   INTEGER NOT NULL,    -- qgen:topic max
    at     TEXT,                -- qgen:topic optional
    ready_value TEXT DEFAULT '' NOT NULL, -- qgen:topic optional
    ready_rows TEXT DEFAULT '' NOT NULL,  -- qgen:topic optional
    made   INTEGER NOT NULL,    -- qgen:enqueued as=epoch
    due    INTEGER,             -- qgen:due as=epoch
    till   INTEGER              -- qgen:lease as=epoch length=5m
);
