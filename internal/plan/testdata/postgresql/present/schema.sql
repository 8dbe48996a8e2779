-- Times without zone, on the clock of UTC.
CREATE TABLE ir_queue (
    id           bigserial PRIMARY KEY,
    name         text NOT NULL,
    scheduled_at timestamp,
    enqueued_at  timestamp NOT NULL,
    dequeued_at  timestamp,
    finished_at  timestamp
);
CREATE TABLE notes (
    id      bigserial PRIMARY KEY,
    told_at timestamp NOT NULL,
    seen_at timestamptz NOT NULL
);
