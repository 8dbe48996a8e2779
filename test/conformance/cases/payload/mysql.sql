-- The content of a job stands in another table, and is not there for every job.
CREATE TABLE bodies (
    job_n   bigint NOT NULL,
    kind    int NOT NULL,
    body    varchar(200) NOT NULL,
    made_at datetime(6),
    status  varchar(200) NOT NULL,
    PRIMARY KEY (job_n, kind)
) ENGINE=InnoDB;

-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done failed=failed
    tries      int NOT NULL DEFAULT 0,               -- qgen:attempts up on=claim max=3
    lease_till datetime(6)                           -- qgen:lease length=1h clock=utc
) ENGINE=InnoDB;
