-- qgen:queue done=delete
CREATE TABLE lease (id bigint PRIMARY KEY, a timestamptz); COMMENT ON COLUMN lease.a IS 'qgen:lease';
-- qgen:queue done=delete
CREATE TABLE lengths (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:lease length=0s
  b  timestamptz, -- qgen:claimed timeout=5
  c  timestamptz, -- qgen:heartbeat
  d  timestamptz  -- qgen:due add=5m unit=s
);
-- qgen:queue done=delete
CREATE TABLE columns (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:lease length=lenth
  b  timestamptz, -- qgen:heartbeat timeout=word
  word text,
  c  timestamptz NOT NULL  -- qgen:due add=id null=never
);
-- qgen:queue done=delete
CREATE TABLE both_until (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:lease length=5m expired=claim
  b  timestamptz, -- qgen:claimed timeout=5m expired=recover
  c  timestamptz, -- qgen:heartbeat timeout=1m
  d  timestamptz  -- qgen:visible
);
-- qgen:queue done=delete
CREATE TABLE never_runs_out (
  id bigint PRIMARY KEY,
  a  timestamptz NOT NULL -- qgen:claimed expired=recover
);
-- qgen:queue done=delete
CREATE TABLE frees (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:claimed timeout=5m free=now
  b  text NOT NULL -- qgen:worker
);
-- qgen:queue done=delete
CREATE TABLE free_now (
  id bigint PRIMARY KEY,
  a  timestamptz -- qgen:lease length=5m free=now|null expired=recover
);
-- qgen:queue done=delete
CREATE TABLE free_only (
  id bigint PRIMARY KEY,
  a  timestamptz -- qgen:lease length=5m free=now expired=recover
);
-- qgen:queue done=delete
CREATE TABLE holders (
  id bigint PRIMARY KEY,
  t  text,    -- qgen:token type=uuid
  w  boolean, -- qgen:worker mine=ready
  s  uuid     -- qgen:status ready=null running=token
);
-- qgen:queue done=delete
CREATE TABLE tokens (
  id bigint PRIMARY KEY,
  t  int -- qgen:token
);
-- qgen:queue done=delete
CREATE TABLE token_list (
  id bigint PRIMARY KEY,
  t  text[] -- qgen:token
);
-- qgen:queue done=delete
CREATE TABLE token_check (
  id bigint PRIMARY KEY,
  t  text CHECK (t IN ('a')) -- qgen:token
);
-- qgen:queue done=delete
CREATE TABLE not_null_worker (
  id bigint PRIMARY KEY,
  w  text NOT NULL -- qgen:worker
);
-- qgen:queue done=delete
CREATE TABLE not_null_default (
  id bigint PRIMARY KEY,
  w  int NOT NULL DEFAULT 0,                 -- qgen:worker
  l  timestamptz NOT NULL DEFAULT '-infinity' -- qgen:lease length=5m expired=claim
);

-- qgen:queue done=delete
CREATE TABLE told_by_none (
  id bigint PRIMARY KEY,
  a  int NOT NULL, -- qgen:status ready~"a & 1 = 0"
  b  int NOT NULL, -- qgen:status running~"b = 2" running:=2 ready:=0
  c  timestamptz NOT NULL -- qgen:claimed timeout=10s expired=claim
);
-- What the words that are wrong would make is not missed as well.
-- qgen:queue
CREATE TABLE beats (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
  b  timestamptz,   -- qgen:heartbeat timeout=1m free=null
  n  int            -- qgen:on recover set 0; on renew set 1
);
-- A role that has no place beside a status is complained of once.
-- qgen:queue done=delete
CREATE TABLE twice (
  id   bigint PRIMARY KEY,
  host text -- qgen:status ready=null running=worker; worker free=''
);
-- qgen:queue done=delete
CREATE TABLE hides_longer (
  id bigint PRIMARY KEY,
  at timestamptz -- qgen:due add=10m; lease length=5m
);
