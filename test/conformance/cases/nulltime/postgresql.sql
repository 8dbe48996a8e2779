-- No status: three times that are null until it happened.
-- qgen:queue
CREATE TABLE jobs (
    id          bigserial PRIMARY KEY,
    n           bigint NOT NULL,                     -- qgen:payload
    started_at  timestamptz,                         -- qgen:status ready=null running=now
    finished_at timestamptz,                         -- qgen:status ready=null running=null done=now failed=null
    failed_at   timestamptz,                         -- qgen:status ready=null running=null done=null failed=now
    tries       int NOT NULL DEFAULT 0               -- qgen:attempts up on=claim max=3
);
