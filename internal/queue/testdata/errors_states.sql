-- qgen:queue
CREATE TABLE alike (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N running=N done=D
);
-- qgen:queue
CREATE TABLE alike_done (id bigint PRIMARY KEY,
  s text, -- qgen:status ready=N running=A failed=A
  f timestamptz -- qgen:finished
);
-- qgen:queue
CREATE TABLE alike_time (id bigint PRIMARY KEY,
  l timestamptz, -- qgen:lease length=5m
  s timestamptz  -- qgen:status done=now
);
-- qgen:queue
CREATE TABLE no_ready (id bigint PRIMARY KEY,
  s text -- qgen:status running=A done=D
);
-- qgen:queue strategy=returning
CREATE TABLE no_running (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N done=D
);
-- qgen:queue strategy=token done=delete
CREATE TABLE no_status (id bigint PRIMARY KEY);
-- qgen:queue strategy=returnin done=delete
CREATE TABLE no_strategy (id bigint PRIMARY KEY);

-- qgen:queue
CREATE TABLE two_ends (
  id       int PRIMARY KEY,
  finished timestamptz, -- qgen:status ready=null done=now
  expired  timestamptz  -- qgen:status ready=null failed=now
);
-- qgen:queue
CREATE TABLE two_flags (
  id       int PRIMARY KEY,
  finished boolean NOT NULL, -- qgen:status ready=false done=true
  expired  boolean NOT NULL  -- qgen:status ready=false failed=true
);
