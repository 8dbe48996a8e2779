-- qgen:queue
CREATE TABLE again (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m expired=claim
  n int -- qgen:attempts on=recover max=3
);
-- qgen:queue
CREATE TABLE fails (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m expired=fail
  n int -- qgen:attempts on=recover max=3
);
-- qgen:queue done=delete
CREATE TABLE held (id bigint PRIMARY KEY,
  n int -- qgen:attempts on=recover max=3
);
-- qgen:queue done=delete
CREATE TABLE unmarked (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A
  u timestamptz, -- qgen:lease length=5m
  n int -- qgen:attempts on=recover max=3
);
-- qgen:queue done=delete
CREATE TABLE by_count (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A
  u timestamptz, -- qgen:lease length=5m
  t int NOT NULL, -- qgen:attempts up on=retry max=3
  n int -- qgen:attempts on=recover max=3
);
-- qgen:queue
CREATE TABLE words (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  n int -- qgen:attempts on=recover max=0
);
-- qgen:queue
CREATE TABLE twice (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  n int, -- qgen:attempts on=recover max=3
  o int -- qgen:attempts on=recover max=3
);
-- qgen:queue
CREATE TABLE limits (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  m int, -- qgen:max_attempts retries
  n int -- qgen:attempts down on=recover
);
-- qgen:queue
CREATE TABLE spare (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  m int, -- qgen:max_attempts
  l int, -- qgen:max_attempts
  k int, -- qgen:max_attempts
  t int NOT NULL, -- qgen:attempts up on=retry
  n int -- qgen:attempts on=recover max=m
);
-- qgen:queue
CREATE TABLE reach (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  n smallint NOT NULL -- qgen:attempts on=recover max=40000 limit=fail
);
