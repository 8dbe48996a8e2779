-- The jobs of a lane are done one after the other, and wait for those before them.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    lane       INTEGER,                              -- qgen:group fifo free=null
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    due_at     INTEGER NOT NULL DEFAULT 0,           -- qgen:due as=epoch_ms
    tries      INTEGER NOT NULL DEFAULT 0,           -- qgen:attempts up on=retry max=3
    token      TEXT,                                 -- qgen:token
    lease_till INTEGER                               -- qgen:lease length=1h as=epoch_ms
);
