-- What is done goes away; what failed stays to be looked at.
-- qgen:queue done=delete
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running failed=failed
    tries      int NOT NULL DEFAULT 3,                  -- qgen:attempts down
    token      varchar(64),                             -- qgen:token
    lease_till bigint                                   -- qgen:lease length=1h as=epoch_ms
);
