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
-- A job that has failed is as old as its failure, whatever writes that time.
CREATE TABLE actions (
    id         bigserial PRIMARY KEY,
    state      text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done failed=failed
    start_time timestamp,                     -- qgen:claimed
    end_time   timestamp                      -- qgen:finished also_failed; on fail set "date_trunc('second', {now})"
);
