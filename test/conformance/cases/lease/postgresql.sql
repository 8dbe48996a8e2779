-- Nothing but a lease marks a job as taken: an expired one is simply ready again.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    lease_till timestamptz,                          -- qgen:lease length=1h
    token      uuid                                  -- qgen:token
);
