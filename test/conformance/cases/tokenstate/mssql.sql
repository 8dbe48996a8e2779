-- The status becomes the batch key while a job runs.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(36) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=token done=done failed=error
    lease_till datetime2                                -- qgen:lease length=1h clock=utc
);
