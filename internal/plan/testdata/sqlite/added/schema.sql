-- What belongs to a letter is added with it and goes with it, when that is purged.
-- qgen:queue letters
CREATE TABLE letters (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    state      TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    lease_till INTEGER, -- qgen:lease length=5m as=epoch_ms
    ended      INTEGER, -- qgen:finished also_failed as=epoch_ms
    address    TEXT NOT NULL,
    cause      TEXT -- qgen:error
);

-- A key of two columns, which the caller gives.
-- qgen:queue parcels
CREATE TABLE parcels (
    depot  INTEGER NOT NULL,
    code   TEXT NOT NULL,
    state  TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent
    PRIMARY KEY (depot, code)
);

-- Claims are rows of a side table.
-- qgen:queue notes
CREATE TABLE notes (
    id      INTEGER PRIMARY KEY,
    address TEXT NOT NULL
);

-- A claim moves the row.
-- qgen:queue files done=delete
CREATE TABLE files (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL
);

CREATE TABLE files_acquired (
    id      INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    mark    TEXT NOT NULL -- qgen:token
);

-- Rows are only added.
-- qgen:queue events
CREATE TABLE events (
    id      INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:seq settle=0s
    address TEXT NOT NULL
);

-- A key of bytes; a claim deletes the row.
-- qgen:queue marks strategy=pop
CREATE TABLE marks (
    id      BLOB NOT NULL PRIMARY KEY,
    address TEXT NOT NULL
);

CREATE TABLE pages (
    letter_id INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    PRIMARY KEY (letter_id, place)
);

CREATE TABLE totals (
    address  TEXT NOT NULL PRIMARY KEY,
    letters  INTEGER DEFAULT 0 NOT NULL,
    last_at  INTEGER
);

CREATE TABLE journal (
    what     TEXT NOT NULL,
    id       INTEGER NOT NULL,
    address  TEXT,
    ended    INTEGER
);
