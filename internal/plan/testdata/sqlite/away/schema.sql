-- qgen:queue files done=delete
CREATE TABLE files (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  path       TEXT NOT NULL,
  size       INTEGER NOT NULL DEFAULT 0,
  tries      INTEGER NOT NULL DEFAULT 0, -- qgen:attempts max=5
  not_before INTEGER                     -- qgen:due as=epoch
);
CREATE TABLE files_acquired (
  id          INTEGER PRIMARY KEY,
  path        TEXT NOT NULL,
  size        INTEGER NOT NULL DEFAULT 0,
  tries       INTEGER NOT NULL DEFAULT 0,
  not_before  INTEGER,
  problem     TEXT,             -- qgen:error
  acquired_by TEXT NOT NULL,    -- qgen:worker
  acquired_at INTEGER NOT NULL, -- qgen:claimed as=epoch_ms
  lease_till  INTEGER NOT NULL, -- qgen:lease length=5m as=epoch
  mark        TEXT NOT NULL     -- qgen:token
);
CREATE TABLE files_failed (
  id      INTEGER PRIMARY KEY,
  path    TEXT NOT NULL,
  tries   INTEGER NOT NULL,
  problem TEXT
);
