-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE actions (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    hook     TEXT NOT NULL,
    state    TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=E
    claimed  INTEGER,                   -- qgen:claimed timeout=5m as=epoch
    claim_id INTEGER NOT NULL DEFAULT 0 -- qgen:token free=0 from=companion
);
CREATE TABLE claims (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    holder   TEXT NOT NULL,
    made_at  INTEGER NOT NULL
);

-- Of these a worker takes what it likes.
CREATE TABLE steps (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    weight INTEGER NOT NULL,
    state  TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
    run    INTEGER                    -- qgen:token from=companion
);
