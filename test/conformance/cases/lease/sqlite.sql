-- Nothing but a lease marks a job as taken: an expired one is simply ready again.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    lease_till INTEGER,                              -- qgen:lease length=1h as=epoch_ms
    token      TEXT                                  -- qgen:token
);
