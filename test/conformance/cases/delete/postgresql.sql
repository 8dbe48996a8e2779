-- What is done goes away; what failed stays to be looked at.
-- qgen:queue done=delete
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running failed=failed
    tries      int NOT NULL DEFAULT 3,               -- qgen:attempts down
    token      text,                                 -- qgen:token
    lease_till timestamptz                           -- qgen:lease length=1h
);
