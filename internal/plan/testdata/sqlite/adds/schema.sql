-- A stage has an Enqueue only where what that adds is a row of its own.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL,
    started_at INTEGER
);
