-- The jobs of a lane are done one after the other, and wait for those before them.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    lane       int,                                     -- qgen:group fifo free=null
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    due_at     timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:due
    tries      int NOT NULL DEFAULT 0,                  -- qgen:attempts up on=retry max=3
    token      binary(16),                              -- qgen:token
    lease_till timestamp(6) NULL                        -- qgen:lease length=1h
) ENGINE=InnoDB;
