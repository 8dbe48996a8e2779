-- A job whose claim has run out fails, and is not run again.

-- qgen:queue builds
CREATE TABLE builds (
    id     INTEGER PRIMARY KEY,
    state  TEXT NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=running done=done failed=failed
    until  INTEGER,                         -- qgen:lease length=5m as=epoch expired=fail
    reason TEXT,                            -- qgen:error
    cause  TEXT,                            -- qgen:on giveup set 'timeout'
    ended  INTEGER                          -- qgen:finished as=epoch also_failed
);

-- The tries are what Fail goes by. Who is gone an expression tells, and the row goes to another table.
-- qgen:queue probes done=delete
CREATE TABLE probes (
    id       INTEGER PRIMARY KEY,
    busy     INTEGER NOT NULL DEFAULT 0,          -- qgen:status ready=0 running=1
    begun    INTEGER,                             -- qgen:claimed as=epoch expired=fail
    seen     INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0           -- qgen:attempts up on=retry max=3
);
CREATE TABLE lost_probes (id INTEGER PRIMARY KEY, attempts INTEGER NOT NULL);
CREATE TABLE losses (probe INTEGER NOT NULL, why TEXT NOT NULL);

-- The workers tell who is alive.
-- qgen:queue imports
CREATE TABLE imports (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    node  TEXT                       -- qgen:worker alive=arg expired=fail
);
