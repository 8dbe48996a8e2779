-- qgen:queue jobs
CREATE TABLE jobs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL,             -- qgen:status ready=N running=A done=D
    mark  INTEGER NOT NULL DEFAULT 0 -- qgen:token free=0 from=companion
);
CREATE TABLE claims (id INTEGER PRIMARY KEY, started TEXT);
