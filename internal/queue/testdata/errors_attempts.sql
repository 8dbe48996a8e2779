-- qgen:queue done=delete
CREATE TABLE limit_alone (id bigint PRIMARY KEY,
  m int -- qgen:max_attempts
);
-- qgen:queue done=delete
CREATE TABLE words (id bigint PRIMARY KEY,
  v  text,        -- qgen:version
  m  int,         -- qgen:max_attempts
  a  int NOT NULL -- qgen:attempts up down on=claim max=7 null=0 limit=fail
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
-- qgen:queue done=delete
CREATE TABLE most_expression (id bigint PRIMARY KEY,
  m  int,
  a  int NOT NULL -- qgen:attempts up max="coalesce(m, 3) + 1"
);
-- qgen:queue done=delete
CREATE TABLE limit_null (id bigint PRIMARY KEY,
  m  bigint,          -- qgen:max_attempts null=-1 unlimited=null|x|99999999999
  a  int NOT NULL     -- qgen:attempts up
);
-- qgen:queue done=delete
CREATE TABLE limit_no_null (id bigint PRIMARY KEY,
  m  int NOT NULL,    -- qgen:max_attempts null=15 unlimited=null
  a  int NOT NULL     -- qgen:attempts up
);
-- qgen:queue done=delete
CREATE TABLE limit_no_try (id bigint PRIMARY KEY,
  m  int,             -- qgen:max_attempts null=0
  a  int NOT NULL     -- qgen:attempts up
);
-- qgen:queue done=delete
CREATE TABLE limit_twice (id bigint PRIMARY KEY,
  m  int,             -- qgen:max_attempts null=5 unlimited=0|05
  a  int NOT NULL     -- qgen:attempts up
);
-- qgen:queue
CREATE TABLE limit_down (id bigint PRIMARY KEY,
  s  text,            -- qgen:status ready=N running=A done=D failed=F
  m  int,             -- qgen:max_attempts unlimited=-1
  a  int NOT NULL     -- qgen:attempts down
);
-- qgen:queue done=delete
CREATE TABLE limit_reach (id bigint PRIMARY KEY,
  m  int,               -- qgen:max_attempts retries null=32767
  a  smallint NOT NULL  -- qgen:attempts up
);
-- qgen:queue done=delete failed=delete
CREATE TABLE said_by_callers (
  id bigint PRIMARY KEY,
  a  int NOT NULL -- qgen:attempts up on=retry max=arg
);
