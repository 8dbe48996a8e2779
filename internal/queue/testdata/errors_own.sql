-- qgen:queue recover=own
CREATE TABLE leased (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  u timestamptz, -- qgen:lease length=5m
  w text -- qgen:worker
);
-- qgen:queue recover=own
CREATE TABLE beating (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  w text, -- qgen:worker
  b timestamptz -- qgen:heartbeat timeout=5m
);
-- qgen:queue done=delete recover=own
CREATE TABLE mine (id bigint PRIMARY KEY,
  w text -- qgen:worker mine=ready
);
-- qgen:queue recover=own
CREATE TABLE unnamed (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue recover=own
CREATE TABLE listed (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  w text[] -- qgen:worker append
);
-- qgen:queue recover=own
CREATE TABLE told (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  w text -- qgen:worker
);
-- qgen:queue recover=own
CREATE TABLE here (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  w text -- qgen:worker expired=fail
);
-- qgen:queue done=delete strategy=hold recover=own
CREATE TABLE held (id bigint PRIMARY KEY, w text -- qgen:worker
);
-- qgen:queue done=delete recover=own
CREATE TABLE beside (id bigint PRIMARY KEY);
-- qgen:queue done=delete
CREATE TABLE again (id bigint PRIMARY KEY,
  w text -- qgen:worker mine=ready
);
