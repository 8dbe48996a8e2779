-- What an outcome writes of a job that it ends is what a ready row has.
-- qgen:queue
CREATE TABLE harvests (
  id bigint PRIMARY KEY,
  s  int NOT NULL -- qgen:status ready=0|3 running=1 done:=0 failed=-1
);
