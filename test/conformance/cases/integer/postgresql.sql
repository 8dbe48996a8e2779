-- Numbers for states, and urgent jobs first.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    state      smallint NOT NULL DEFAULT 0,          -- qgen:status ready=0 running=1 done=2 failed=9
    priority   int NOT NULL DEFAULT 0,               -- qgen:priority desc
    claimed_at timestamptz,                          -- qgen:claimed timeout=1h
    worker     text                                  -- qgen:worker
);
