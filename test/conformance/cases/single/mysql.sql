-- The plain table: one key, one status, everything that most queues have.
-- qgen:queue
CREATE TABLE jobs (
    id          bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n           bigint NOT NULL,                        -- qgen:payload
    status      varchar(16) NOT NULL DEFAULT 'ready',   -- qgen:status ready=ready running=running done=done failed=failed
    tries       int NOT NULL DEFAULT 0,                 -- qgen:attempts up on=claim max=3
    lease_till  datetime(6),                            -- qgen:lease length=1h clock=utc
    worker      varchar(64),                            -- qgen:worker
    last_error  text,                                   -- qgen:error max=200
    enqueued_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:enqueued
    finished_at timestamp(6) NULL                       -- qgen:finished
) ENGINE=InnoDB;
