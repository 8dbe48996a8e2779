-- The worker's answer is put back into the row, and so is what else it says.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    owner      text,                                 -- qgen:worker
    answer     text,                                 -- qgen:result
    score      integer,                              -- qgen:on done set arg:score
    code       integer,                              -- qgen:on fail set arg:code
    host       text                                  -- qgen:on claim set arg:host
);
