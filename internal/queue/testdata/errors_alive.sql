-- qgen:queue jobs
CREATE TABLE jobs (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  who   text -- qgen:worker alive=nodes
);
-- qgen:queue leased
CREATE TABLE leased (
  id    bigint PRIMARY KEY,
  till  timestamptz, -- qgen:lease length=5m
  state text NOT NULL, -- qgen:status ready=N done=D
  who   text -- qgen:worker alive=arg
);
-- qgen:queue many
CREATE TABLE many (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  who   text -- qgen:worker append alive=arg
);
-- qgen:queue still
CREATE TABLE still (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N done=D
  who   text NOT NULL DEFAULT '' -- qgen:on claim set worker
);
CREATE TABLE processes (id int PRIMARY KEY, seen_at timestamp, name text);
CREATE TABLE a.twice (id int); CREATE TABLE b.twice (id int);
