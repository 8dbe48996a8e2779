-- The user's Go types decide how the values of new rows travel, whatever the columns say.
-- qgen:queue done=delete
CREATE TABLE notes (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1
    body  TEXT,
    extra GRAPHIC,
    raw   BLOB,
    name  BLOB
);
