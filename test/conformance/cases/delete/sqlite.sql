-- What is done goes away; what failed stays to be looked at.
-- qgen:queue done=delete
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running failed=failed
    tries      INTEGER NOT NULL DEFAULT 3,           -- qgen:attempts down
    token      TEXT,                                 -- qgen:token
    lease_till INTEGER                               -- qgen:lease length=1h as=epoch_ms
);
