-- The rows of jobs that run are in a table of their own, and so are those of finished and
-- failed jobs, whose parts go away: see qgen.yaml.
-- Jobs that are given back keep their numbers, which an IDENTITY would not let them.
CREATE SEQUENCE job_numbers AS bigint START WITH 1;

-- qgen:queue
CREATE TABLE jobs (
    id         bigint NOT NULL DEFAULT NEXT VALUE FOR job_numbers PRIMARY KEY,
    n          bigint NOT NULL,        -- qgen:payload
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    last_error nvarchar(400)           -- qgen:error max=200
);

CREATE TABLE jobs_running (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    tries      int NOT NULL,
    last_error nvarchar(400),
    worker     varchar(64) NOT NULL,      -- qgen:worker
    token      uniqueidentifier NOT NULL, -- qgen:token
    lease_till datetimeoffset(7) NOT NULL -- qgen:lease length=1h
);

CREATE TABLE parts (
    job_id bigint NOT NULL,
    place  int NOT NULL,
    PRIMARY KEY (job_id, place)
);

CREATE TABLE finished (
    id          bigint NOT NULL PRIMARY KEY,
    n           bigint NOT NULL,
    note        varchar(16) NOT NULL,
    token       uniqueidentifier NOT NULL,
    finished_at datetimeoffset(7) NOT NULL
);

CREATE TABLE dead (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    status     varchar(16) NOT NULL,
    tries      int NOT NULL,
    last_error nvarchar(400)
);

CREATE TABLE taken (
    job_id bigint NOT NULL,
    token  uniqueidentifier NOT NULL,
    ended  varchar(16),
    PRIMARY KEY (job_id, token)
);
