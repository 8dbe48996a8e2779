-- qgen:queue recover=begin
CREATE TABLE misspelt (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue recover=start
CREATE TABLE leased (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  u timestamptz -- qgen:lease length=5m
);
-- qgen:queue recover=start
CREATE TABLE hidden (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N done=D
  u timestamptz -- qgen:visible length=5m
);
-- qgen:queue recover=start
CREATE TABLE timed (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  c timestamptz -- qgen:claimed timeout=5m
);
-- qgen:queue recover=start
CREATE TABLE beating (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  b timestamptz -- qgen:heartbeat timeout=5m
);
-- qgen:queue recover=start
CREATE TABLE listed (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  w text -- qgen:worker alive=arg
);
-- qgen:queue recover=start
CREATE TABLE registered (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  w int -- qgen:worker
);
CREATE TABLE processes (id int PRIMARY KEY, seen timestamptz);
-- qgen:queue done=delete recover=start
CREATE TABLE mine (id bigint PRIMARY KEY,
  w text -- qgen:worker mine=ready
);
-- qgen:queue recover=start
CREATE TABLE told (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue recover=start
CREATE TABLE here (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  c timestamptz -- qgen:claimed expired=fail
);
-- qgen:queue expired=fail
CREATE TABLE alone (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D failed=F
);
-- qgen:queue recover=start expired=fail
CREATE TABLE unmarked (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue recover=start expired=claim
CREATE TABLE claimed (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue done=delete strategy=hold recover=start
CREATE TABLE held (id bigint PRIMARY KEY);
-- qgen:queue strategy=pop recover=start
CREATE TABLE popped (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue done=delete strategy=partition recover=start
CREATE TABLE shared (id bigint PRIMARY KEY -- qgen:shard mod
);
-- qgen:queue done=delete recover=start
CREATE TABLE unmarking (id bigint PRIMARY KEY, d timestamptz -- qgen:due
);
-- qgen:queue strategy=offset recover=start expired=fail
CREATE TABLE log (id bigserial PRIMARY KEY);
-- qgen:queue done=delete recover=start
CREATE TABLE beside (id bigint PRIMARY KEY);
-- qgen:queue done=delete recover=start
CREATE TABLE reserved (id bigint PRIMARY KEY);
CREATE TABLE reservations (id bigint PRIMARY KEY, who text);
