-- Workers say which kind of job they want.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    kind       text NOT NULL DEFAULT 'mail',         -- qgen:topic
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      int NOT NULL DEFAULT 0                -- qgen:attempts up on=claim max=3
);
