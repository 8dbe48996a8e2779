-- qgen:queue id=row done=delete
CREATE TABLE both_ids (id bigint, v int NOT NULL UNIQUE); -- qgen:where "true"
COMMENT ON COLUMN both_ids.id IS 'qgen:id';
-- qgen:queue done=delete
CREATE TABLE parts (
  a int NOT NULL, -- qgen:id 1
  b int,          -- qgen:id 1
  c int NOT NULL, -- qgen:id
  PRIMARY KEY (c)
);
-- qgen:queue done=delete
CREATE VIEW seen AS SELECT a FROM parts;
-- qgen:queue done=delete id=row
CREATE VIEW seen_row AS SELECT a FROM parts;
-- qgen:queue done=delete
CREATE TABLE grows (
  id bigint PRIMARY KEY,
  b  boolean -- qgen:seq
);
-- qgen:queue
CREATE TABLE from_zero (a int NOT NULL, -- qgen:id 0
  b int NOT NULL, -- qgen:id 1
  s text -- qgen:status ready=N done=D
);
-- qgen:queue done=delete
CREATE TABLE key_worker (
  id text PRIMARY KEY, -- qgen:worker
  st text NOT NULL     -- qgen:status ready=a running=b
);
-- qgen:queue done=delete
CREATE TABLE key_on (
  id text,    -- qgen:on claim,release set 'x'
  n  bigint,  -- qgen:version
  st text,    -- qgen:status ready=a running=b
  PRIMARY KEY (id, n, st)
);
-- A unique key that may be null names no row, unless no such row is a job.
-- qgen:queue done=delete
CREATE TABLE perhaps (
  report int UNIQUE, -- qgen:id
  host   text
);
-- qgen:queue done=delete
-- qgen:where "report is not null or host = 'x'"
CREATE TABLE either (
  report int UNIQUE, -- qgen:id
  host   text
);
-- qgen:queue done=delete
CREATE TABLE grouped (
  report int UNIQUE,
  host   text NOT NULL, -- qgen:group limit=2
  mark   uuid,          -- qgen:token
  st     text NOT NULL  -- qgen:status ready=a running=b
);
