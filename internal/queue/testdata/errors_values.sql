CREATE TYPE mood AS ENUM ('sad', 'ok');
-- qgen:queue done=delete
CREATE TABLE vals (
  id   bigint PRIMARY KEY,
  a    smallint,             -- qgen:status ready=N running=70000
  b    varchar(7),           -- qgen:status ready=processing
  c    text CHECK (c IN ('new', 'done')), -- qgen:status ready=nwe
  d    mood,                 -- qgen:status ready=happy
  e    boolean,              -- qgen:status ready=0
  f    uuid,                 -- qgen:status ready=none
  g    timestamptz,          -- qgen:status ready=soon
  h    date,                 -- qgen:status ready=soon
  i    time,                 -- qgen:status ready=noon
  j    double precision,     -- qgen:status ready=much
  k    numeric(10,2),        -- qgen:status ready=much
  l    text NOT NULL,        -- qgen:status ready=null
  m    text,                 -- qgen:status ready=set
  n    text,                 -- qgen:status ready=old running~now
  o    text,                 -- qgen:status ready="x > 1" running:=a|b done:=set
  p    text,                 -- qgen:status ready:=+1 running:=arg:1x
  q    int,                  -- qgen:topic any="x"
  r    varbit(3),            -- qgen:status
  s    char(3)               -- qgen:status running=token
);
-- qgen:queue done=delete
CREATE TABLE expressions (
  id bigint PRIMARY KEY,
  a  text, -- qgen:status ready~"" done:=";"
  b  text, -- qgen:status ready~"a -- b" done:="(a"
  c  text, -- qgen:status ready~"a)" done:="'a"
  d  text, -- qgen:status ready~"{nwo}" done:="{now"
  e  text, -- qgen:status ready~"{arg:x int}"
  f  timestamptz -- qgen:on claim set "{bitand a b} = '{}'"
);
-- qgen:queue done=delete
-- qgen:where "a = {arg:x} or b = {arg:y a/b} or c = {arg:z int} or d = {arg:z int64}"
-- qgen:where "a < {now} and b <= {time} or c = {today}"
CREATE TABLE arguments (
  id bigint PRIMARY KEY,
  z  text -- qgen:topic
);
-- qgen:queue done=delete
-- qgen:where "a = {arg:a str} or b = {arg:b uuid.UUID} or c = {arg:c map} or d = {arg:d *text} or e = {arg:e []byte} or f = {arg:f time.Time}"
CREATE TABLE types_of_go (id bigint PRIMARY KEY);
