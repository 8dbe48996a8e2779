-- The worker's answer is put back into the row, and so is what else it says.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    owner      TEXT,                                 -- qgen:worker
    answer     TEXT,                                 -- qgen:result
    score      INTEGER,                              -- qgen:on done set arg:score
    code       INTEGER,                              -- qgen:on fail set arg:code
    host       TEXT                                  -- qgen:on claim set arg:host
);
