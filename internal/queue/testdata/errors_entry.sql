-- qgen:queue one
-- qgen:queue two
CREATE TABLE a.jobs (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N running=A done=D
);
CREATE TABLE b.jobs (id bigint PRIMARY KEY,
  s text, -- qgen:status ready=N running=A done=D
  l timestamptz -- qgen:lease length=5m
);
