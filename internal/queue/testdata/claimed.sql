-- Jobs that are claimed and then begun by a step of its own.
-- qgen:queue tasks
CREATE TABLE tasks (
  id         bigserial PRIMARY KEY,
  state      text NOT NULL DEFAULT 'pending', -- qgen:status ready=pending claimed=waiting running=running done=successful failed=failed
  till       timestamptz,                     -- qgen:lease length=5m
  tries      int NOT NULL DEFAULT 0,          -- qgen:attempts up on=claim max=5
  version    int NOT NULL DEFAULT 0,          -- qgen:version
  started_at timestamptz,                     -- qgen:on start set now
  host       text                             -- qgen:on start set arg:host
);
-- An expired row is claimed again, and a null tells a claimed row from a running one.
-- qgen:queue begun
CREATE TABLE begun (
  id      bigserial PRIMARY KEY,
  state   int NOT NULL,  -- qgen:status ready=0 claimed=1 running=1 done=2
  begun   timestamptz,   -- qgen:status ready=null claimed=null running=now
  since   timestamptz,   -- qgen:claimed timeout=5m expired=claim
  holder  text           -- qgen:worker
);
-- Several values, an expression, and a column that is said of both alike.
-- qgen:queue mixed
CREATE TABLE mixed (
  id      bigserial PRIMARY KEY,
  phase   text NOT NULL, -- qgen:status ready=new claimed=taken|lent running~"{row}.phase like 'run%'" running:=runs done=over
  busy    boolean NOT NULL, -- qgen:status ready=false claimed=true running=true done=false
  who     text, -- qgen:status ready=null claimed=worker running=worker done=null
  room    int -- qgen:group limit=2
);
-- The worker alone tells a ready row from a claimed one.
-- qgen:queue owned
CREATE TABLE owned (
  id      bigserial PRIMARY KEY,
  state   text NOT NULL, -- qgen:status ready=N claimed=N running=R done=D
  holder  text,          -- qgen:worker
  till    timestamptz    -- qgen:lease length=5m expired=recover
);
-- qgen:queue hooks done=delete
CREATE TABLE hooks (
    id        bigint PRIMARY KEY,
    delivered bigint, -- qgen:claimed as=epoch timeout=5m free=0 expired=claim
    body      text
);
-- What each claim leaves in the column of the worker is compared beside the time, which counts seconds; free rows have 0.
-- qgen:queue random
CREATE TABLE random (
  id      bigserial PRIMARY KEY,
  state   text NOT NULL,              -- qgen:status ready=N done=D
  holder  text NOT NULL DEFAULT '',   -- qgen:worker free=''; on claim set "md5(random()::text)"
  since   bigint NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
);
-- The time by which work has to end begins with it: no claim that has not begun runs out.
-- qgen:queue reserved
CREATE TABLE reserved (
  id      bigserial PRIMARY KEY,
  state   text NOT NULL,  -- qgen:status ready=new claimed=held running=busy done=done failed=failed
  held_at timestamptz,    -- qgen:claimed
  till    timestamptz     -- qgen:lease length=5m expired=fail; on claim set null; on start set now+5m
);
-- The start, or the claim, lets a claim last longer than Extend would.
-- qgen:queue lasts done=delete
CREATE TABLE lasts (
  id    bigserial PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N claimed=R running=P failed=F
  till  timestamptz    -- qgen:lease length=60s; on start set "{now} + interval '300 seconds'"
);
-- qgen:queue lasts_sure done=delete
CREATE TABLE lasts_sure (
  id    bigserial PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N claimed=R running=P failed=F
  till  timestamptz    -- qgen:lease length=60s; on start set now+5m; on claim set now+30s
);
-- qgen:queue lasts_told done=delete
CREATE TABLE lasts_told (
  id    bigserial PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N claimed=R running=P failed=F
  till  timestamptz    -- qgen:lease length=60s; on start,renew set now+5m
);
