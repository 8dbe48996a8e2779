-- What deletes its rows says so where nothing moves them, and writes nothing to them.
-- qgen:queue
CREATE TABLE ends (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A
  note  text
);
CREATE TABLE sent (id bigint PRIMARY KEY, state text NOT NULL);
