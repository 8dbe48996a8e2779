-- No key at all: the row's physical place names it, and a token tells its claims apart.
-- qgen:queue id=row
CREATE TABLE jobs (
    n          bigint NOT NULL,                      -- qgen:payload; order
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    token      uuid                                  -- qgen:token
);
