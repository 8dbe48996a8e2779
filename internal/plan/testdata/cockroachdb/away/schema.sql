-- qgen:queue files done=delete
CREATE TABLE files (
  id         bigint PRIMARY KEY DEFAULT unique_rowid(),
  path       text NOT NULL,
  size       bigint NOT NULL DEFAULT 0,
  tries      int NOT NULL DEFAULT 0, -- qgen:attempts max=5
  not_before timestamptz,            -- qgen:due
  problem    text                    -- qgen:error
);
CREATE TABLE files_acquired (
  id          bigint PRIMARY KEY,
  path        text NOT NULL,
  size        bigint NOT NULL DEFAULT 0,
  tries       int NOT NULL DEFAULT 0,
  problem     text,
  acquired_by text NOT NULL,        -- qgen:worker
  acquired_at timestamptz NOT NULL, -- qgen:claimed
  lease_till  timestamptz NOT NULL, -- qgen:lease length=5m
  mark        uuid NOT NULL         -- qgen:token
);
CREATE TABLE files_failed (
  id      bigint PRIMARY KEY,
  path    text NOT NULL,
  tries   int NOT NULL,
  problem text
);
