-- No key at all: the row's physical place names it, and a token tells its claims apart.
-- qgen:queue id=row
CREATE TABLE jobs (
    n          NUMBER(18) NOT NULL,                     -- qgen:payload; order
    status     VARCHAR2(16) DEFAULT 'ready' NOT NULL,   -- qgen:status ready=ready running=running done=done failed=failed
    token      RAW(16)                                  -- qgen:token
);
