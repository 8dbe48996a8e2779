-- Whoever has done a job says when it is due again.
-- qgen:queue asked cycle
CREATE TABLE asked (
    id     INTEGER PRIMARY KEY,
    state  TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at TEXT NOT NULL, -- qgen:due as=text:2006-01-02T15:04:05.000Z
    tries  INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder TEXT, -- qgen:worker
    answer TEXT -- qgen:result
);

-- A job is due again after a time that its row has; with no next time it rests.
-- qgen:queue rests cycle
CREATE TABLE rests (
    id     INTEGER PRIMARY KEY,
    run_at INTEGER, -- qgen:visible length=5m as=epoch_ms null=never
    ver    INTEGER NOT NULL -- qgen:version
);

-- A job is due again after a time that its row has.
-- qgen:queue every cycle=every unit=m
CREATE TABLE every (
    id     INTEGER PRIMARY KEY,
    state  TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    run_at TEXT, -- qgen:due as=text:2006-01-02T15:04:05.000Z
    till   TEXT, -- qgen:lease length=5m as=text:2006-01-02T15:04:05.000Z
    tries  INTEGER DEFAULT 3 NOT NULL, -- qgen:attempts down max=3
    every  INTEGER DEFAULT 60 NOT NULL,
    ran_at TEXT -- qgen:finished as=text:2006-01-02T15:04:05.000Z
);

-- The same, worked out by the database, and nothing that marks a job that runs.
-- qgen:queue reckoned cycle="{row}.wait_s * 2" unit=s
CREATE TABLE reckoned (
    id     INTEGER PRIMARY KEY,
    run_at INTEGER NOT NULL, -- qgen:due as=epoch; order
    wait_s INTEGER DEFAULT 60 NOT NULL
);

-- The time that the row adds to the last one says it all.
-- qgen:queue added cycle
CREATE TABLE added (
    id     INTEGER PRIMARY KEY,
    ran_at INTEGER, -- qgen:due add=wait_s unit=s as=epoch
    till   INTEGER, -- qgen:lease length=5m as=epoch
    wait_s INTEGER DEFAULT 60 NOT NULL
);

-- A time stands for never, since the column takes no null.
-- qgen:queue ends cycle
CREATE TABLE ends (
    id     INTEGER PRIMARY KEY,
    state  TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at INTEGER NOT NULL -- qgen:due as=epoch never=0
);
