-- Finished and failed jobs go to tables of their own, and their parts go away: see qgen.yaml.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                       -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      int NOT NULL DEFAULT 0,            -- qgen:attempts up on=claim max=3
    token      uuid,                               -- qgen:token
    lease_till timestamptz,                                 -- qgen:lease length=1h
    cause      text                                 -- qgen:error
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
    id     bigint NOT NULL PRIMARY KEY,
    n      bigint NOT NULL,
    status varchar(16) NOT NULL,
    tries  int NOT NULL,
    cause  text
);

CREATE TABLE taken (
    job_id bigint NOT NULL,
    token  uuid NOT NULL,
    ended  varchar(16),
    PRIMARY KEY (job_id, token)
);
