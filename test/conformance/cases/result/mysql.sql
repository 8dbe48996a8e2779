-- The worker's answer is put back into the row.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    owner      varchar(64),                             -- qgen:worker
    answer     text                                     -- qgen:result
) ENGINE=InnoDB;
