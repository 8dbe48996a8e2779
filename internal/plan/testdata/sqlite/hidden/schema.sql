-- A time alone hides a row that somebody has, and one that waits for its next try.
-- qgen:queue
CREATE TABLE hidden (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    sent  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=0 done=1 failed=2
    next  INTEGER,                    -- qgen:visible length=2m as=epoch_ms
    tries INTEGER DEFAULT 0 NOT NULL  -- qgen:attempts up on=claim max=16
);
