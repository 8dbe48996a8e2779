-- Rows are only added. The numbers of a sequence may be committed out of order.
CREATE TABLE events (
    id         bigserial PRIMARY KEY, -- qgen:seq
    kind       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
    body       jsonb NOT NULL
);

-- Rows may be alike in the time by which they are read.
CREATE TABLE readings (
    sensor   integer NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- qgen:seq notunique gaps settle=60s
    value    double precision NOT NULL,
    PRIMARY KEY (sensor, taken_at)
);
