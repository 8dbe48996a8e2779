-- A job is taken by a row of another table, and stays: two claims that find it at the same moment must not both
-- add one.
CREATE TABLE plans (
    id     NUMBER(18) NOT NULL PRIMARY KEY,
    name   VARCHAR2(20) NOT NULL,
    run_at TIMESTAMP WITH TIME ZONE NOT NULL -- qgen:due
);

CREATE TABLE plan_runs (
    plan_id NUMBER(18) NOT NULL,
    state   VARCHAR2(20) NOT NULL
);
