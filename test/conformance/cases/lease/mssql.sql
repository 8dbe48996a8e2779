-- Nothing but a lease marks a job as taken: an expired one is simply ready again.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    lease_till datetime2,                               -- qgen:lease length=1h clock=utc
    token      char(36)                                 -- qgen:token
);
