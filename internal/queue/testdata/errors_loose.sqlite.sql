-- qgen:queue
CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    status TEXT NOT NULL, -- qgen:status ready=N running=A done=D
    run_at DATETIME       -- qgen:due
);
