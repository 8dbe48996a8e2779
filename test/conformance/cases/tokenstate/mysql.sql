-- The status becomes the batch key while a job runs.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(36) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=token done=done failed=error
    lease_till datetime(6)                              -- qgen:lease length=1h clock=utc
) ENGINE=InnoDB;
