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
