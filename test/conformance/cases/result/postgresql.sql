-- The worker's answer is put back into the row.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    owner      text,                                 -- qgen:worker
    answer     text                                  -- qgen:result
);
