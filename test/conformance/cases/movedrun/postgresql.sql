-- The rows of jobs that run are in a table of their own, and so are those of finished and
-- failed jobs, whose parts go away: see qgen.yaml.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,        -- qgen:payload
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    last_error text                    -- qgen:error
);

CREATE TABLE jobs_running (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    tries      int NOT NULL,
    last_error text,
    worker     varchar(64) NOT NULL, -- qgen:worker
    token      uuid NOT NULL,        -- qgen:token
    lease_till timestamptz NOT NULL  -- qgen:lease length=1h
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
    token       uuid NOT NULL,
    finished_at timestamptz NOT NULL
);

CREATE TABLE dead (
    id         bigint NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,
    status     varchar(16) NOT NULL,
    tries      int NOT NULL,
    last_error text
);

CREATE TABLE taken (
    job_id bigint NOT NULL,
    token  uuid NOT NULL,
    ended  varchar(16),
    PRIMARY KEY (job_id, token)
);
