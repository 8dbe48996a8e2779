CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY,
    status TEXT NOT NULL DEFAULT 'ready',
    data   TEXT NOT NULL
);
