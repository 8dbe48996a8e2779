-- qgen:queue
CREATE TABLE jobs (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  a  int,
  b  int            -- qgen:ignore
);
