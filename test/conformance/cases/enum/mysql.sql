-- States of an ENUM, and one that the queue leaves alone.
-- qgen:queue
CREATE TABLE jobs (
    id         char(36) NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload; order
    state      enum('queued', 'parked', 'running', 'done', 'failed') NOT NULL DEFAULT 'queued', -- qgen:status ready=queued running=running done=done failed=failed
    version    int NOT NULL DEFAULT 0,                  -- qgen:version
    lease_till datetime(6)                              -- qgen:lease length=1h clock=utc
) ENGINE=InnoDB;
