-- The wait after a failure as SQL tells it: an interval, in words of one database each, a number of minutes.
CREATE TABLE jobs (
  id     bigint PRIMARY KEY,
  state  text NOT NULL,
  run_at timestamptz,
  tries  int NOT NULL DEFAULT 0,
  wait   int NOT NULL
);
CREATE TABLE messages (
  id bigint PRIMARY KEY,
  vt timestamptz NOT NULL,
  n  int NOT NULL
);
