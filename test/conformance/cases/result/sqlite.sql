-- The worker's answer is put back into the row.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    owner      TEXT,                                 -- qgen:worker
    answer     TEXT                                  -- qgen:result
);
