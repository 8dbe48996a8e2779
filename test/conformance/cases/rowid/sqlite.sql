-- No key at all: the row's physical place names it, and a token tells its claims apart.
-- qgen:queue id=row
CREATE TABLE jobs (
    n          INTEGER NOT NULL,                     -- qgen:payload; order
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    token      TEXT                                  -- qgen:token
);
