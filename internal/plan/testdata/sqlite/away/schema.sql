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

-- No tries are counted, so that what fails is gone; the due time is digits in both tables.
-- qgen:queue letters done=delete failed=delete
CREATE TABLE letters (
    id  INTEGER PRIMARY KEY AUTOINCREMENT,
    due TEXT NOT NULL -- qgen:due as=text:epoch
);
CREATE TABLE letters_running (
    id   INTEGER PRIMARY KEY,
    due  TEXT NOT NULL,
    mark TEXT NOT NULL -- qgen:token
);

-- A row that comes back is as ready as it was, though nothing keeps what says so while its job runs.
-- qgen:queue parcels done=delete
CREATE TABLE parcels (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    busy  INTEGER,                    -- qgen:on enqueue set 0
    state TEXT,                       -- qgen:on enqueue set 'new'
    tries INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=retry; on recover set old
    body  TEXT
);
CREATE TABLE parcels_running (
    id    INTEGER PRIMARY KEY,
    state TEXT,                       -- qgen:on claim set 'sent'
    tries INTEGER NOT NULL DEFAULT 0,
    body  TEXT,
    till  INTEGER NOT NULL            -- qgen:lease length=5m as=epoch
);

-- The table in which jobs run holds those of other queues as well.
-- qgen:queue faxes done=delete
-- qgen:where "team = 'fax'"
CREATE TABLE faxes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    team TEXT NOT NULL
);
CREATE TABLE all_running (
    id   INTEGER PRIMARY KEY,
    team TEXT NOT NULL,
    till INTEGER NOT NULL -- qgen:lease length=5m as=epoch
);
