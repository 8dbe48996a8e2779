-- A count that each way back to ready raises tells one claim of a row from the next.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done failed=failed
    n     INTEGER NOT NULL DEFAULT 0,   -- qgen:version on=ready
    beat  INTEGER                       -- qgen:heartbeat timeout=1m as=epoch
);

-- Rows that other programs add without a count have the first all the same.
-- qgen:queue loose
CREATE TABLE loose (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done failed=failed
    n     INTEGER,                      -- qgen:version on=ready
    beat  INTEGER                       -- qgen:heartbeat timeout=1m as=epoch
);
