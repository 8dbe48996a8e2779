-- What only is written when a job ends tells no row that has ended.
-- qgen:queue
CREATE TABLE fails (
  id    bigserial PRIMARY KEY,
  state text NOT NULL -- qgen:status ready=N running=A done=C failed:=E
);
-- qgen:queue
CREATE TABLE ends (
  id    bigserial PRIMARY KEY,
  state text NOT NULL -- qgen:status ready=N running=A done:=C failed=E
);
-- qgen:queue
CREATE TABLE neither (
  id    bigserial PRIMARY KEY,
  state text NOT NULL -- qgen:status ready=N running=A done:=C failed:=E
);
