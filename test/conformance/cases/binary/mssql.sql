-- Keys of sixteen bytes that the application chooses.
-- qgen:queue
CREATE TABLE jobs (
    id         binary(16) NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload; order
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    token      binary(16),                              -- qgen:token
    lease_till bigint                                   -- qgen:lease length=1h as=epoch_us
);
