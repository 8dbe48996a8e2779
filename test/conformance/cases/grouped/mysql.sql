-- So many jobs of a lane run at once; a job without a lane runs as it comes.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    lane       int,                                     -- qgen:group limit=1 free=null
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    due_at     timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:due
    tries      int NOT NULL DEFAULT 0,                  -- qgen:attempts up on=retry max=3
    token      binary(16),                              -- qgen:token
    lease_till timestamp(6) NULL                        -- qgen:lease length=1h
) ENGINE=InnoDB;
