CREATE TABLE events (
    id         INTEGER PRIMARY KEY, -- qgen:seq
    kind       TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')), -- qgen:enqueued
    body       TEXT NOT NULL
);
