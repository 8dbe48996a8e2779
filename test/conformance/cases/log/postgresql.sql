-- Rows are only added; groups of consumers read them behind marks.
CREATE TABLE jobs (
    id bigserial PRIMARY KEY, -- qgen:seq
    n  bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now() -- qgen:enqueued
);
