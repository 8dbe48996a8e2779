-- qgen:queue
CREATE TABLE words (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int NOT NULL,  -- qgen:group limit=0 limt=2 fifo=1 free
  b  int NOT NULL,  -- qgen:group limit=2, free='x'
  c  int NOT NULL   -- qgen:group limit=3
);
-- qgen:queue
CREATE TABLE nothing (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int            -- qgen:group free=null
);
-- qgen:queue
CREATE TABLE twice (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int            -- qgen:group fifo limit=2
);
-- qgen:queue
CREATE TABLE unmarked (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N done=D
  a  int            -- qgen:group limit=1
);
-- qgen:queue
CREATE TABLE mine (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N done=D
  w  text,          -- qgen:worker mine=ready
  a  int            -- qgen:group limit=1
);
-- qgen:queue
CREATE TABLE keyless (
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int            -- qgen:group limit=1
);
-- qgen:queue
CREATE TABLE kinds (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  jsonb,         -- qgen:group limit=1
  w  text           -- qgen:worker; group
);
-- qgen:queue
-- qgen:order random
CREATE TABLE drawn (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int            -- qgen:group fifo
);
-- qgen:queue
-- qgen:order "(select max(x.id) from drawn x)"
CREATE TABLE asked (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int            -- qgen:group fifo
);
-- qgen:queue
-- qgen:order "made < {now} - interval '1 day'" desc
CREATE TABLE aged (
  id   bigint PRIMARY KEY,
  s    text NOT NULL, -- qgen:status ready=N running=A done=D
  made timestamptz NOT NULL,
  a    int            -- qgen:group fifo
);
-- qgen:queue
-- qgen:order "n % 3"
CREATE TABLE tried (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  n  int NOT NULL,  -- qgen:attempts up on=claim max=5
  a  int            -- qgen:group fifo
);
-- qgen:queue
CREATE TABLE limits (
  id    bigint PRIMARY KEY,
  s     text NOT NULL, -- qgen:status ready=N running=A done=D
  host  int NOT NULL,  -- qgen:group limit=slots
  other int NOT NULL,  -- qgen:group limit="slots + 1"
  slots int NOT NULL
);

-- qgen:queue
-- qgen:group limit=2 free=null
CREATE TABLE whole (
  id bigint PRIMARY KEY,
  s  text NOT NULL  -- qgen:status ready=N running=A done=D
);

-- qgen:queue
-- qgen:group fifo
CREATE TABLE inline (
  id bigint PRIMARY KEY,
  s  text NOT NULL  -- qgen:status ready=N running=A done=D
);

-- qgen:queue
-- qgen:group limit=2
CREATE TABLE both_of (
  id bigint PRIMARY KEY,
  a  int NOT NULL,  -- qgen:group limit=1
  s  text NOT NULL  -- qgen:status ready=N running=A done=D
);

-- qgen:queue
CREATE TABLE told (
  id bigint PRIMARY KEY,
  a  int NOT NULL,  -- qgen:group fifo limit=arg
  s  text NOT NULL  -- qgen:status ready=N running=A done=D
);
-- qgen:queue strategy=hold
CREATE TABLE held (
  id bigint PRIMARY KEY,
  a  int NOT NULL, -- qgen:group limit=1
  s  text NOT NULL -- qgen:status ready=N done=D
);
