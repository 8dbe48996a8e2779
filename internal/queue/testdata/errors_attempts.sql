-- qgen:queue done=delete
CREATE TABLE limit_alone (id bigint PRIMARY KEY,
  m int -- qgen:max_attempts
);
-- qgen:queue done=delete
CREATE TABLE words (id bigint PRIMARY KEY,
  v  text,        -- qgen:version
  m  int,         -- qgen:max_attempts
  a  int NOT NULL -- qgen:attempts up down on=claim max=7 null=0
);
-- qgen:queue done=delete
CREATE TABLE most (id bigint PRIMARY KEY,
  a  int -- qgen:attempts up max=0
);
-- qgen:queue done=delete
CREATE TABLE most_column (id bigint PRIMARY KEY,
  m  text,
  a  int -- qgen:attempts up max=m
);
-- qgen:queue done=delete
CREATE TABLE most_unknown (id bigint PRIMARY KEY,
  a  int -- qgen:attempts up max=limits
);
-- qgen:queue done=delete
CREATE TABLE limits (id bigint PRIMARY KEY,
  a  int -- qgen:attempts up limit=claim
);
-- qgen:queue done=delete
CREATE TABLE down (id bigint PRIMARY KEY,
  a  int -- qgen:attempts down limit=fail
);
-- qgen:queue done=delete failed=keep
CREATE TABLE keep (id bigint PRIMARY KEY,
  a  int -- qgen:attempts up max=3 limit=fail
);
-- qgen:queue
CREATE TABLE held (id bigint PRIMARY KEY,
  s text,                -- qgen:status ready=N done=D failed=F
  a int NOT NULL,        -- qgen:attempts up on=claim max=3
  t timestamptz          -- qgen:on claim,done set now
);
