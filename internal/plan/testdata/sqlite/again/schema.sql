-- A job that comes again and again, with its tries as at the beginning.
-- qgen:queue again
CREATE TABLE again (
    id      INTEGER PRIMARY KEY,
    state   INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    tries   INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=claim
    at_ms   INTEGER NOT NULL DEFAULT -1, -- qgen:claimed as=epoch_ms free=-1 timeout=10m
    periods INTEGER NOT NULL DEFAULT 0
);

-- qgen:queue fresh
CREATE TABLE fresh (
    id      INTEGER PRIMARY KEY,
    state   INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    tries   INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=claim; on recover set 0
    at_ms   INTEGER NOT NULL DEFAULT -1 -- qgen:claimed as=epoch_ms free=-1 timeout=10m
);
