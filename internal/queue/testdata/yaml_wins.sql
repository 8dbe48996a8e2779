-- qgen:queue jobs done=delete failed=delete clock=utc fence=token
CREATE TABLE jobs (
  id    bigint PRIMARY KEY,
  state text NOT NULL,      -- qgen:status ready=N running=A
  due   timestamp,          -- qgen:due
  tries int NOT NULL,       -- qgen:attempts up max=5
  every int NOT NULL
);
CREATE TABLE ended (id bigint PRIMARY KEY, state text, due timestamp, tries int, every int);
-- qgen:queue rounds cycle=every unit=m
CREATE TABLE rounds (
  id    bigint PRIMARY KEY,
  state text NOT NULL,      -- qgen:status ready=N running=A failed=F
  due   timestamptz,        -- qgen:due
  every int NOT NULL
);
-- qgen:queue flags strategy=hold
CREATE TABLE flags (
  id   bigint PRIMARY KEY,
  ends boolean NOT NULL,    -- qgen:status ready=false done=true failed=true
  over boolean NOT NULL,    -- qgen:status done=true
  note text                 -- qgen:error
);
-- qgen:queue heap id=row done=delete strategy=hold
CREATE TABLE heap (n bigint NOT NULL, m bigint NOT NULL UNIQUE);
