-- A time alone hides a row that somebody has, and one that waits for its next try.
-- qgen:queue
CREATE TABLE hidden (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    sent  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=0 done=1 failed=2
    next  INTEGER,                    -- qgen:visible length=2m as=epoch_ms
    tries INTEGER DEFAULT 0 NOT NULL  -- qgen:attempts up on=claim max=16
);

-- A null in a column of free=0 is of no state; one with free=0|null is free.
-- qgen:queue hooks done=delete
CREATE TABLE hooks (
    id        INTEGER PRIMARY KEY,
    delivered INTEGER, -- qgen:claimed as=epoch_ns timeout=5m free=0 expired=claim
    body      TEXT
);
-- qgen:queue calls done=delete
CREATE TABLE calls (
    id        INTEGER PRIMARY KEY,
    delivered INTEGER, -- qgen:claimed as=epoch_ns timeout=5m free=0|null expired=claim
    body      TEXT
);
