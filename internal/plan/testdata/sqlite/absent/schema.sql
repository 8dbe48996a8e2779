-- A URL is fetched once, whatever has become of it.
-- qgen:queue urls enqueue=absent
CREATE TABLE urls (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    url    TEXT NOT NULL UNIQUE CHECK (url <> ''),
    status TEXT NOT NULL DEFAULT 'todo' -- qgen:status ready=todo running=in_progress done=done
);

-- What waits already is not asked for again; a task that runs or has ended keeps none out.
-- qgen:queue tasks enqueue=absent
CREATE TABLE tasks (
    id          TEXT NOT NULL PRIMARY KEY DEFAULT (lower(hex(randomblob(16)))),
    fingerprint TEXT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'pending' -- qgen:status ready=pending|retry running=running done=processed
);
CREATE UNIQUE INDEX tasks_fingerprint ON tasks (fingerprint) WHERE state IN ('pending', 'retry');

-- The caller gives the key; what belongs to a page is added with it, and only with it.
-- qgen:queue pages enqueue=absent
CREATE TABLE pages (
    site  INTEGER NOT NULL,
    path  TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=read
    PRIMARY KEY (site, path)
);

-- Rows are only added.
-- qgen:queue visits enqueue=absent
CREATE TABLE visits (
    id   INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:seq settle=0s
    mark TEXT NOT NULL UNIQUE
);

-- Claims are rows of a side table.
-- qgen:queue notes enqueue=absent done=delete
CREATE TABLE notes (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL UNIQUE
);

-- A claim moves the row.
-- qgen:queue files enqueue=absent done=delete
CREATE TABLE files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE
);

CREATE TABLE files_acquired (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    mark TEXT NOT NULL -- qgen:token
);

CREATE TABLE journal (
    what TEXT NOT NULL,
    site INTEGER NOT NULL
);
