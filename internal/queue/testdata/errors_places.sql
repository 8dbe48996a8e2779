-- qgen:status ready=N
CREATE TABLE places (
  id    bigint PRIMARY KEY, -- qgen:queue
  state text                -- qgen:status(worker) ready=N done=D
);

-- qgen:queue nothing

CREATE INDEX ON places (state); -- qgen:payload

-- qgen:queue mail
CREATE TABLE twice (
  id bigint PRIMARY KEY
);
COMMENT ON TABLE twice IS 'qgen:queue mail';
-- qgen:queue done=delete
-- qgen:queue mail
CREATE TABLE unnamed (
  id bigint PRIMARY KEY,
  state text -- qgen:status(mial) ready=N done=D
);
-- qgen:queue(sender) done=delete
CREATE TABLE scoped (
  id bigint PRIMARY KEY
);
-- qgen:queue done=delete
CREATE TABLE roles_twice (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:lease length=1m
  b  timestamptz, -- qgen:lease length=2m
  c  timestamptz, -- qgen:due
  d  text,        -- qgen:ignore; topic
  e  text         -- qgen:order; order 2
);
COMMENT ON COLUMN roles_twice.c IS 'It''s due: qgen:due null=never';
-- qgen:queue
CREATE TABLE near_misses (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen due
  b  timestamptz, -- QGEN:lease length=5m
  c  int,         -- @qgen:attempts max=3
  d  text,        -- qgen: is not meant here
  s  text         -- qgen:status ready=N done=D
);
COMMENT ON COLUMN near_misses.aa IS 'qgen:topic';
COMMENT ON TABLE near_miss IS 'qgen:queue';
