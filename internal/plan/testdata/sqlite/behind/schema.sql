-- Each claim adds a row that the job then has.
-- qgen:queue
CREATE TABLE tasks (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=D
);
CREATE TABLE runs (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    task INTEGER NOT NULL UNIQUE,
    mark TEXT NOT NULL
);

-- How long a failed job waits is kept beside it, as are its tries, which an entry counts: the wait is that of the
-- tries before.
-- qgen:queue
CREATE TABLE waits (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
    run_at INTEGER NOT NULL DEFAULT 0 -- qgen:due as=epoch
);
CREATE TABLE specs (
    wait_id INTEGER PRIMARY KEY,
    tries   INTEGER NOT NULL,
    most    TEXT NOT NULL DEFAULT 'N',
    pause   INTEGER NOT NULL
);
