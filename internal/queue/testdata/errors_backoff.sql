-- qgen:queue jobs
CREATE TABLE jobs (
  id     bigint PRIMARY KEY,
  state  text NOT NULL, -- qgen:status ready=N running=A done=D
  run_at timestamptz,
  tries  int NOT NULL DEFAULT 0,
  wait   int NOT NULL
);
-- qgen:queue events
CREATE TABLE events (id bigserial PRIMARY KEY); -- qgen:seq settle=0s
