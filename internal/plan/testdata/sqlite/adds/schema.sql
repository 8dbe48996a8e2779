-- A stage has an Enqueue only where what that adds is a row of its own.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL,
    started_at INTEGER
);
-- Stages that take rows in any state, as their caller names them, or only delete, keep Purge from none.
CREATE TABLE calls (
    id        INTEGER PRIMARY KEY,
    channel   INTEGER,
    state     TEXT NOT NULL,
    not_after INTEGER
);
CREATE TABLE logs (id INTEGER PRIMARY KEY, state TEXT);
