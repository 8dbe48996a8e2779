-- States of an enum type, and one that the queue leaves alone.
CREATE TYPE job_state AS ENUM ('queued', 'parked', 'running', 'done', 'failed');
-- qgen:queue
CREATE TABLE jobs (
    id         uuid PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload; order
    state      job_state NOT NULL DEFAULT 'queued',  -- qgen:status ready=queued running=running done=done failed=failed
    version    int NOT NULL DEFAULT 0,               -- qgen:version
    lease_till timestamptz                           -- qgen:lease length=1h
);
