-- qgen:queue done=delete
CREATE TABLE unmarked (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A
  u timestamptz -- qgen:lease length=5m expired=fail
);
-- qgen:queue done=delete
CREATE TABLE by_count (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A
  n int NOT NULL, -- qgen:attempts up on=claim max=3
  u timestamptz -- qgen:lease length=5m expired=fail
);
-- qgen:queue
CREATE TABLE hidden (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N done=D failed=F
  u timestamptz -- qgen:visible length=5m expired=fail
);
-- qgen:queue
CREATE TABLE misspelt (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz -- qgen:lease length=5m expired=failed
);
-- qgen:queue
CREATE TABLE endless (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  c timestamptz -- qgen:claimed expired=fail
);
-- qgen:queue
CREATE TABLE told_beside (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  c timestamptz -- qgen:claimed expired=claim
);
-- qgen:queue
CREATE TABLE alive (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  w text -- qgen:worker expired=fail
);
-- qgen:queue
CREATE TABLE listed (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  w text[] -- qgen:worker append expired=fail
);
-- qgen:queue
CREATE TABLE beat (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m expired=recover
  b timestamptz, -- qgen:heartbeat timeout=1m expired=fail
  e timestamptz -- qgen:heartbeat timeout=1m expired=claim
);
-- qgen:queue
CREATE TABLE recovered (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m expired=fail
  r text -- qgen:on recover set 'lost'
);
-- qgen:queue
CREATE TABLE given_up (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  u timestamptz, -- qgen:lease length=5m
  r text -- qgen:on giveup set 'lost'
);
-- qgen:queue done=delete failed=delete
CREATE TABLE beside (id bigint PRIMARY KEY,
  u timestamptz -- qgen:lease length=5m expired=fail
);
