-- qgen:queue later
CREATE TABLE later (
  id     bigint PRIMARY KEY, -- qgen:seq gaps settle=60s
  b      text, -- qgen:worker alive=workers
  c      text, -- qgen:token
  f      timestamptz, -- qgen:lease length=g unit=s
  g      interval
);
