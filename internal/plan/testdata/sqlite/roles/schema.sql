-- Columns with several roles, and rows of others in the table.

-- The time of the last claim is never null, and the status tells who has a row.
-- qgen:queue beats
CREATE TABLE beats (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    status TEXT NOT NULL DEFAULT 'queued',     -- qgen:status ready=queued running=picked done=gone
    beat   INTEGER NOT NULL DEFAULT (unixepoch()) -- qgen:claimed timeout=30s expired=claim as=epoch; heartbeat
);

-- What a step writes to a column does not take it from those who read it.
-- qgen:queue secrets
CREATE TABLE secrets (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    status TEXT NOT NULL DEFAULT 'N',      -- qgen:status ready=N running=R done=D failed=F
    tries  INTEGER NOT NULL DEFAULT 0,     -- qgen:attempts up on=retry; on redrive set 0
    most   INTEGER NOT NULL DEFAULT 2,     -- qgen:max_attempts; on redrive set 5
    due    INTEGER,                        -- qgen:due as=epoch; on done set null
    secret TEXT                            -- qgen:payload; on done set null
);

-- Rows of another kind are those of somebody else.
-- qgen:queue mails
-- qgen:where "kind = 'mail'"
CREATE TABLE mails (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    kind   TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'N',      -- qgen:status ready=N running=R done=D failed=F
    locked INTEGER,                        -- qgen:claimed timeout=5m as=epoch
    tries  INTEGER NOT NULL DEFAULT 0,     -- qgen:attempts up on=claim max=3
    ended  INTEGER                         -- qgen:finished as=epoch also_failed
);

-- What is only asked of ready rows may change while somebody has one.
-- qgen:queue notices
CREATE TABLE notices (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    sent   INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=0 done=1
    paused INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0
    mark   TEXT                        -- qgen:token
);

-- The empty name says that nobody has the row.
-- qgen:queue holders
CREATE TABLE holders (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    holder TEXT NOT NULL DEFAULT '',  -- qgen:worker free=''
    done   INTEGER NOT NULL DEFAULT 0 -- qgen:status ready=0 running=0 done=1
);
