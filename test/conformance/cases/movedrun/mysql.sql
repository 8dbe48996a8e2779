-- The rows of jobs that run are in a table of their own, and so are those of finished and
-- failed jobs, whose parts go away: see qgen.yaml.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n          bigint NOT NULL,        -- qgen:payload
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    last_error text                    -- qgen:error
) ENGINE=InnoDB;

CREATE TABLE jobs_running (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    tries      int NOT NULL,
    last_error text,
    worker     varchar(64) NOT NULL, -- qgen:worker
    token      binary(16) NOT NULL,  -- qgen:token
    lease_till timestamp(6) NOT NULL -- qgen:lease length=1h
) ENGINE=InnoDB;

CREATE TABLE parts (
    job_id bigint NOT NULL,
    place  int NOT NULL,
    PRIMARY KEY (job_id, place)
) ENGINE=InnoDB;

CREATE TABLE finished (
    id          bigint NOT NULL PRIMARY KEY,
    n           bigint NOT NULL,
    note        varchar(16) NOT NULL,
    token       binary(16) NOT NULL,
    finished_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
) ENGINE=InnoDB;

CREATE TABLE dead (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    status     varchar(16) NOT NULL,
    tries      int NOT NULL,
    last_error text
) ENGINE=InnoDB;

CREATE TABLE taken (
    job_id bigint NOT NULL,
    token  binary(16) NOT NULL,
    ended  varchar(16),
    PRIMARY KEY (job_id, token)
) ENGINE=InnoDB;
