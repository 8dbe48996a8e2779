-- Rows that leave the table when their jobs end: each of two masters takes its own.
-- qgen:queue commands strategy=partition done=delete
CREATE TABLE commands (
    id       INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:shard mod
    what     TEXT NOT NULL,
    priority INTEGER NOT NULL DEFAULT 2 -- qgen:priority asc
);
CREATE TABLE error_commands (
    id      INTEGER PRIMARY KEY,
    what    TEXT NOT NULL,
    message TEXT
);
