-- A job is taken by a row of another table, and stays: two claims that find it at the same moment must not both
-- add one.
CREATE TABLE plans (
    id     bigint NOT NULL PRIMARY KEY,
    name   varchar(20) NOT NULL,
    run_at datetimeoffset NOT NULL -- qgen:due
);

CREATE TABLE plan_runs (
    plan_id bigint NOT NULL,
    state   varchar(20) NOT NULL
);
