-- qgen:queue done=delete
CREATE TABLE conflict (id bigint PRIMARY KEY,
  a timestamptz, -- qgen:lease length=5m; claimed
  n int          -- qgen:attempts up; version
);
-- qgen:queue
CREATE TABLE computed (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  a int,
  b boolean GENERATED ALWAYS AS (a > 1) STORED,  -- qgen:status ready=true|false running~false
  c int GENERATED ALWAYS AS (a + 1) STORED       -- qgen:attempts
);
-- qgen:queue done=delete
CREATE TABLE computed_attempts (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  a int,
  c int GENERATED ALWAYS AS (a + 1) STORED       -- qgen:attempts
);
-- qgen:queue done=delete
CREATE TABLE ons (id bigint PRIMARY KEY,
  a int,      -- qgen:on
  b int,      -- qgen:on claim
  c int,      -- qgen:on claim, set 1
  d int,      -- qgen:on clam set 1
  e int,      -- qgen:on claim set 1 always
  f int,      -- qgen:on claim,claim set 1
  g int,      -- qgen:on claim set=1
  h int,      -- qgen:on "claim" set 1
  i int,      -- qgen:on claim set 1|2
  j int,      -- qgen:on claim claim set 1
  k int       -- qgen:on claim set x
);
-- qgen:queue done=delete
CREATE TABLE ons_absent (id bigint PRIMARY KEY,
  a int  -- qgen:on start,fail,renew,recover,giveup,redrive,done set 1
);
-- qgen:queue done=delete
CREATE TABLE ons_twice (id bigint PRIMARY KEY,
  a int, -- qgen:on claim set 1; on claim set 2; on retry set +1
  b int, -- qgen:on claim set 1; on claim set 1; on enqueue set -1
  w text NOT NULL DEFAULT 'me' -- qgen:worker free=me; on claim set worker
);
-- qgen:queue
CREATE TABLE nulls (id bigint PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A done=D
  f timestamptz NOT NULL -- qgen:on retry set null
);
-- qgen:queue
CREATE TABLE looks_only (id bigint PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running~A done~C failed=F
  n int NOT NULL   -- qgen:attempts up on=claim max=3
);
-- qgen:queue
CREATE TABLE never_back (id bigint PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready~N|M running=A done=C failed=F
  u timestamptz    -- qgen:lease length=5m
);

-- When a claim has run out nobody is there to say why.
-- qgen:queue unsaid done=delete
CREATE TABLE unsaid (
    id       bigserial PRIMARY KEY,
    reason   text,        -- qgen:status ready=null failed~set; on fail set arg:why
    mark     uuid,        -- qgen:token
    ends_at  timestamptz, -- qgen:lease length=5m expired=recover
    attempts int NOT NULL DEFAULT 0 -- qgen:attempts max=5
);
-- qgen:queue done=delete
CREATE TABLE own_token (id bigint PRIMARY KEY,
  a text -- qgen:token; on claim set arg:holder
);
-- qgen:queue done=delete
CREATE TABLE new_counts (id bigint PRIMARY KEY,
  a int -- qgen:on enqueue set -1
);
