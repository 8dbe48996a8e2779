-- Numbers for states, and urgent jobs first.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    state      tinyint NOT NULL DEFAULT 0,              -- qgen:status ready=0 running=1 done=2 failed=9
    priority   int NOT NULL DEFAULT 0,                  -- qgen:priority desc
    claimed_at datetime(6),                             -- qgen:claimed timeout=1h clock=utc
    worker     varchar(64)                              -- qgen:worker
) ENGINE=InnoDB;
