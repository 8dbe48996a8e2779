-- qgen:queue jobs
CREATE TABLE jobs (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  till  timestamptz, -- qgen:lease length=1h
  who   int NOT NULL DEFAULT 0 -- qgen:worker alive=nodes
);
