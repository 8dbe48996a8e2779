-- Numbers for states, and urgent jobs first.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    state      INTEGER NOT NULL DEFAULT 0,           -- qgen:status ready=0 running=1 done=2 failed=9
    priority   INTEGER NOT NULL DEFAULT 0,           -- qgen:priority desc
    claimed_at INTEGER,                              -- qgen:claimed timeout=1h as=epoch_ms
    worker     TEXT                                  -- qgen:worker
);
