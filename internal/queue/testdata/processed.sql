-- qgen:queue
CREATE TABLE inbox (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body      text,
  processed boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true
);
-- With a lease, the claim is marked.
-- qgen:queue
CREATE TABLE inbox_lease (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  body      text,
  locked    timestamptz,                   -- qgen:lease length=1m
  processed boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true
);
