-- Rows are only added; groups of consumers read them behind marks.
CREATE TABLE jobs (
    id bigint IDENTITY PRIMARY KEY, -- qgen:seq gaps settle=2s
    n  bigint NOT NULL,
    created_at datetime2 NOT NULL -- qgen:enqueued clock=utc
);
