-- qgen:queue files done=delete
CREATE TABLE files (
  id         bigserial PRIMARY KEY,
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
-- qgen:queue mail
CREATE TABLE mail (
  tenant  int NOT NULL,
  no      int NOT NULL,
  prio    int NOT NULL DEFAULT 0,     -- qgen:priority desc
  body    text NOT NULL,
  count   int NOT NULL DEFAULT 0,     -- qgen:attempts on=retry
  holder  text,                       -- qgen:worker
  changes int NOT NULL DEFAULT 0,
  wait    bigint,                     -- qgen:due as=epoch
  PRIMARY KEY (tenant, no)
);
CREATE TABLE mail_running (
  customer int NOT NULL,
  number   int NOT NULL,
  text     text NOT NULL,
  prio     int NOT NULL,
  failures int NOT NULL,
  who      text NOT NULL,
  since    timestamptz NOT NULL,
  till     timestamptz,
  version  int NOT NULL,
  kind     text NOT NULL,
  due      bigint,
  UNIQUE (number, customer)
);
CREATE TABLE mail_sent (tenant int, no int, at timestamptz);
-- qgen:queue parts done=delete failed=delete
CREATE TABLE parts (
  id    bigserial PRIMARY KEY,
  tries int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
  lost  int NOT NULL DEFAULT 0  -- qgen:attempts on=recover max=2
);
CREATE TABLE parts_running (
  id    bigint PRIMARY KEY,
  tries int NOT NULL,
  lost  int NOT NULL,
  till  timestamptz NOT NULL -- qgen:lease length=5m
);
