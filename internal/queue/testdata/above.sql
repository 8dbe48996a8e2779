CREATE TABLE above (
  -- qgen:queue above; where "not paused"
  -- qgen:order kind desc nulls=last, "lower(name)"
  -- qgen:status ready=N done=D
  state  text NOT NULL,
  kind   text,
  name   text NOT NULL,
  paused boolean NOT NULL,
  UNIQUE (name)
);
CREATE TABLE above_column (
  /* qgen:order 1 desc; shard
     qgen:queue  -- the queue
     of all */
  n int PRIMARY KEY,
  x text, -- qgen:status ready~"length(x) = 1" ready:=a done~done running:=busy running~"length(x) > 4"
  y text
);
