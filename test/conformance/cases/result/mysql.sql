-- The worker's answer is put back into the row, and so is what else it says.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    owner      varchar(64),                             -- qgen:worker
    answer     text,                                   -- qgen:result
    score      int,                                     -- qgen:on done set arg:score
    code       int,                                     -- qgen:on fail set arg:code
    host       varchar(64)                              -- qgen:on claim set arg:host
) ENGINE=InnoDB;
