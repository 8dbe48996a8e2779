-- A status without a running state: the row lock is the claim, the status keeps the outcome.
-- qgen:queue
CREATE TABLE jobs (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n      bigint NOT NULL,                             -- qgen:payload
    status varchar(16) NOT NULL DEFAULT 'ready',       -- qgen:status ready=ready done=done failed=failed
    KEY jobs_ready (status, id)
) ENGINE=InnoDB;
