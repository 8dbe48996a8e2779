-- qgen:queue
CREATE TABLE once (
  id        bigserial PRIMARY KEY,
  processed timestamptz -- qgen:status ready=null running=now; finished
);
-- qgen:queue
CREATE TABLE counted (
  id    bigserial PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  tries int NOT NULL DEFAULT 0 -- qgen:status ready~9; attempts up on=retry max=5 limit=claim
);
-- qgen:queue done=delete
CREATE TABLE owned (
  id    bigserial PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N
  owner text           -- qgen:status ready~a|b; worker free=null
);
