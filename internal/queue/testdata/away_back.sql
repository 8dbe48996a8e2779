-- What a ready row surely holds comes back with it, whatever a claim wrote to the other table.
-- qgen:queue jobs done=delete
-- qgen:where "kind = 'mail'"
CREATE TABLE jobs (
  id     bigserial PRIMARY KEY,
  busy   int,
  paused boolean NOT NULL,
  state  text,
  kind   text NOT NULL DEFAULT 'letter',
  held   text,
  plain  int NOT NULL DEFAULT 0,
  tries  int, -- qgen:attempts up on=retry max=5; on recover set old
  due    timestamptz -- qgen:due null=never
);
CREATE TABLE jobs_running (
  id    bigint PRIMARY KEY,
  state text, -- qgen:on claim set 'runs'
  held  text,
  tries int,
  till  timestamptz NOT NULL -- qgen:lease length=5m
);
-- What it may have held is not known, and with its default it is not ready.
-- qgen:queue strays done=delete
CREATE TABLE strays (
  id     bigserial PRIMARY KEY,
  level  int,
  grade  int NOT NULL DEFAULT 7,
  task   text,
  mode   int,
  closed int, -- qgen:on retry,recover set 1; on release set 0
  fits   int NOT NULL DEFAULT 3,
  since  timestamptz NOT NULL DEFAULT now(),
  due    timestamptz, -- qgen:due null=never; on recover set old
  host   text,        -- qgen:topic
  room   text         -- qgen:topic optional
);
CREATE TABLE strays_running (
  id   bigint PRIMARY KEY,
  mode int,                  -- qgen:on claim set 5
  till timestamptz NOT NULL -- qgen:lease length=5m
);
