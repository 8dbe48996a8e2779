-- qgen:queue
-- qgen:group limit=4
CREATE TABLE jobs (
  id bigint PRIMARY KEY,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  t  timestamptz    -- qgen:lease length=5m
);

-- A running row that Recover leaves alone counts until its claim has run out.
-- qgen:queue
-- qgen:where "a = 1"
-- qgen:group limit=arg
CREATE TABLE told (
  id bigint PRIMARY KEY,
  a  int NOT NULL,
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  t  timestamptz    -- qgen:lease length=5m
);

-- qgen:queue
CREATE TABLE sites (
  id bigint PRIMARY KEY,
  a  int NOT NULL,  -- qgen:group limit=arg
  s  text NOT NULL, -- qgen:status ready=N running=A done=D
  t  timestamptz    -- qgen:lease length=5m
);
