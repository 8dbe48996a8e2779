-- The claimed column holds 0 while nobody has the row, which is before every time: Recover asks for more than that.
-- qgen:queue events
CREATE TABLE events (
    id      bigserial PRIMARY KEY,
    rank    int NOT NULL,               -- qgen:priority asc
    state   text NOT NULL,              -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  text NOT NULL,              -- qgen:worker free=''
    held_at bigint NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
);

-- An index of times that leaves out free rows serves.
-- qgen:queue served
CREATE TABLE served (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL,              -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  text NOT NULL,              -- qgen:worker free=''
    held_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00' -- qgen:claimed timeout=5m free='1970-01-01 00:00:00+00' expired=recover
);
CREATE INDEX served_held ON served (held_at) WHERE holder <> '';
