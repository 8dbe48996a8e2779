-- qgen:queue files
CREATE TABLE files (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    path       TEXT NOT NULL,
    size       INTEGER NOT NULL DEFAULT 0,
    tries      INTEGER NOT NULL DEFAULT 0, -- qgen:attempts max=2
    not_before TEXT                        -- qgen:due as=text:'2006-01-02 15:04:05.000'
);

CREATE TABLE files_acquired (
    id          INTEGER PRIMARY KEY,
    path        TEXT NOT NULL,
    size        INTEGER NOT NULL DEFAULT 0,
    tries       INTEGER NOT NULL DEFAULT 0,
    problem     TEXT,          -- qgen:error
    acquired_by TEXT NOT NULL, -- qgen:worker
    acquired_at TEXT NOT NULL, -- qgen:claimed as=text:'2006-01-02 15:04:05.000'
    lease_till  TEXT NOT NULL, -- qgen:lease length=5m as=text:'2006-01-02 15:04:05.000'
    mark        TEXT NOT NULL  -- qgen:token
);

CREATE TABLE files_processed (
    id          INTEGER PRIMARY KEY,
    path        TEXT NOT NULL,
    acquired_by TEXT NOT NULL
);

CREATE TABLE files_failed (
    id      INTEGER PRIMARY KEY,
    path    TEXT NOT NULL,
    tries   INTEGER NOT NULL,
    problem TEXT
);
