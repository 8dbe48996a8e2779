-- The plain table: one key, one status, everything that most queues have.
-- qgen:queue
CREATE TABLE jobs (
    id          bigserial PRIMARY KEY,
    n           bigint NOT NULL,                     -- qgen:payload
    status      text NOT NULL DEFAULT 'ready',       -- qgen:status ready=ready running=running done=done failed=failed
    tries       int NOT NULL DEFAULT 0,              -- qgen:attempts up on=claim max=3
    lease_till  timestamptz,                         -- qgen:lease length=1h
    worker      text,                                -- qgen:worker
    last_error  text,                                -- qgen:error max=200
    enqueued_at timestamptz NOT NULL DEFAULT now(),  -- qgen:enqueued
    finished_at timestamptz                          -- qgen:finished
);
