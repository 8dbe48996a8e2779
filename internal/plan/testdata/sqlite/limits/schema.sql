-- Columns of limits that count something else than tries, or have numbers of their own for none.

-- A null is the limit of the program, and no row is without one.
-- qgen:queue delayed
CREATE TABLE delayed (
    id           INTEGER PRIMARY KEY,
    state        TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    locked_at    INTEGER,                   -- qgen:claimed timeout=5m as=epoch
    attempts     INTEGER,                   -- qgen:attempts up on=retry
    max_attempts INTEGER                    -- qgen:max_attempts null=3
);

-- Retries, of which -1 are without end.
-- qgen:queue sandbox
CREATE TABLE sandbox (
    id        INTEGER PRIMARY KEY,
    status    TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    start     INTEGER,                   -- qgen:claimed timeout=5m as=epoch
    run_count INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=retry
    max_retry INTEGER                    -- qgen:max_attempts retries null=2 unlimited=-1
);

-- Nothing but the count tells a row that has failed, and a claim counts.
-- qgen:queue spent done=delete
CREATE TABLE spent (
    id          INTEGER PRIMARY KEY,
    held        INTEGER,                   -- qgen:lease length=5m as=epoch
    tries       INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=claim
    max_retries INTEGER NOT NULL DEFAULT 0 -- qgen:max_attempts retries unlimited=-1|99
);

-- A count of the tries that are left begins with those of the row, one more than its retries.
-- qgen:queue left
CREATE TABLE left_over (
    id      INTEGER PRIMARY KEY,
    state   TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    tries   INTEGER NOT NULL,          -- qgen:attempts down
    retries INTEGER                    -- qgen:max_attempts retries null=1
);

-- Where the count is of retries, a limit of tries is one less.
-- qgen:queue again
CREATE TABLE again (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    due   INTEGER,                   -- qgen:due as=epoch
    more  INTEGER NOT NULL           -- qgen:attempts down limit=fail max=3
);

-- A claim takes one of the tries that are left; at 0 a job is not claimed, and has failed.
-- qgen:queue items done=delete
CREATE TABLE items (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    available INTEGER DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=0
    expires   INTEGER, -- qgen:lease length=5m expired=claim as=epoch
    due_at    INTEGER, -- qgen:due as=epoch
    remaining INTEGER DEFAULT 5 NOT NULL, -- qgen:attempts down on=claim max=5
    mark      TEXT -- qgen:token
);
