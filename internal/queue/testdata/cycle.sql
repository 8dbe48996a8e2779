-- Jobs that never end, and how their next time is told.
-- qgen:queue asked cycle
CREATE TABLE asked (
  id     bigserial PRIMARY KEY,
  state  text NOT NULL,  -- qgen:status ready=N running=A failed=E
  run_at timestamptz,    -- qgen:due null=never
  till   timestamptz,    -- qgen:lease length=5m
  holder text,           -- qgen:worker
  token  uuid,           -- qgen:token
  tries  int NOT NULL,   -- qgen:attempts up on=claim max=most
  most   int NOT NULL,
  answer text,           -- qgen:result
  why    text,           -- qgen:error clear=retry
  ran_at timestamptz,    -- qgen:finished
  place  text            -- qgen:on done set arg:place
);
-- qgen:queue daily cycle=1d
CREATE TABLE daily (
  id     bigserial PRIMARY KEY,
  vt     timestamptz NOT NULL, -- qgen:visible length=30s
  ver    int NOT NULL          -- qgen:version
);
-- qgen:queue counted cycle=every
CREATE TABLE counted (
  id     bigserial PRIMARY KEY,
  state  text NOT NULL,   -- qgen:status ready=N running=A failed=E
  run_at bigint NOT NULL, -- qgen:due as=epoch
  tries  int NOT NULL,    -- qgen:attempts down max=3
  every  int NOT NULL
);
-- qgen:queue reckoned cycle="{row}.every"
CREATE TABLE reckoned (
  id     bigserial PRIMARY KEY,
  run_at timestamptz NOT NULL, -- qgen:due
  every  interval NOT NULL
);
-- qgen:queue added cycle
CREATE TABLE added (
  id     bigserial PRIMARY KEY,
  ran_at timestamptz, -- qgen:due add=every unit=m
  till   timestamptz, -- qgen:lease length=5m
  tries  int NOT NULL, -- qgen:attempts up on=claim
  every  int NOT NULL
);
-- qgen:queue nullable cycle=every
CREATE TABLE nullable (
  id     bigserial PRIMARY KEY,
  run_at timestamptz NOT NULL, -- qgen:due
  every  interval
);
-- qgen:queue ending cycle=every
CREATE TABLE ending (
  id     bigserial PRIMARY KEY,
  run_at timestamptz, -- qgen:due null=never
  every  interval
);
