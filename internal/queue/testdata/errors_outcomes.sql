-- qgen:queue done=delete failed=delete
CREATE TABLE two_ways (id bigint PRIMARY KEY,
  s  text -- qgen:status ready=N running=A done=D failed=E
);
-- qgen:queue done=keep
CREATE TABLE keep (id bigint PRIMARY KEY,
  s  text -- qgen:status ready=N running=A
);
-- qgen:queue
CREATE TABLE nothing (id bigint PRIMARY KEY);
-- qgen:queue
CREATE TABLE nothing_status (id bigint PRIMARY KEY,
  s  text -- qgen:status ready=N running=A
);
-- qgen:queue done=delete
CREATE TABLE results (id bigint PRIMARY KEY,
  r  text, -- qgen:result
  e  int   -- qgen:error
);
-- qgen:queue done=delete
CREATE TABLE error_words (id bigint PRIMARY KEY,
  e  varchar(20) NOT NULL -- qgen:error max=100 append clear=retry
);
-- qgen:queue done=delete
CREATE TABLE error_max (id bigint PRIMARY KEY,
  e  varchar(20), -- qgen:error max=x
  f  timestamptz  -- qgen:finished
);
-- qgen:queue done=delete
CREATE TABLE error_list (id bigint PRIMARY KEY,
  e  jsonb,      -- qgen:error append clear=retry
  f  timestamptz -- qgen:finished
);
-- qgen:queue done=delete
CREATE TABLE types (id bigint PRIMARY KEY,
  p  text -- qgen:payload type='not a type'
);
-- qgen:queue
CREATE TABLE ended (id bigint PRIMARY KEY,
  a  timestamptz NOT NULL, -- qgen:visible length=5m
  f  timestamptz           -- qgen:finished also_failed
);
