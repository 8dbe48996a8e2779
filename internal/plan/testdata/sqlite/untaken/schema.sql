-- The claimed column holds 0 while nobody has the row, which is before every time: Recover asks for more than that.
-- qgen:queue events
CREATE TABLE events (
    id      INTEGER PRIMARY KEY,
    rank    INTEGER NOT NULL,             -- qgen:priority asc
    state   TEXT NOT NULL,                -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  TEXT NOT NULL,                -- qgen:worker free=''
    held_at INTEGER NOT NULL DEFAULT 0    -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
);

-- By a lease, which is 0 while nobody has the row.
-- qgen:queue leased done=delete
CREATE TABLE leased (
    id      INTEGER PRIMARY KEY,
    holder  TEXT NOT NULL,                -- qgen:worker free=''
    until   INTEGER NOT NULL DEFAULT 0    -- qgen:lease length=5m as=epoch free=0 expired=recover
);
