-- A log: a number that grows, a line, and when it came.
-- qgen:queue
CREATE TABLE log_lines (
    seq   bigint NOT NULL AUTO_INCREMENT UNIQUE,             -- qgen:seq settle=60s
    line  varchar(200) NOT NULL,                             -- qgen:payload
    added datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)  -- qgen:enqueued clock=local
) ENGINE=InnoDB;
