-- Rows may be alike in the column by which they are read.
CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    at bigint NOT NULL, -- qgen:seq notunique settle=2s
    n  bigint NOT NULL,
    created_at timestamptz NOT NULL -- qgen:enqueued
);
CREATE INDEX jobs_at ON jobs (at, id);
