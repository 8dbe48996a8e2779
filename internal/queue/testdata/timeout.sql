-- qgen:queue tasks
CREATE TABLE tasks (
  id    bigint PRIMARY KEY,
  done  boolean NOT NULL DEFAULT false, -- qgen:status ready=false running=false done=true
  since timestamptz,                    -- qgen:claimed timeout=arg
  n     int NOT NULL DEFAULT 0          -- qgen:attempts up on=claim max=3 limit=claim
);
-- qgen:queue mails
CREATE TABLE mails (
  id    bigint PRIMARY KEY,
  s     text NOT NULL, -- qgen:status ready=N running=A done=D
  since timestamptz,   -- qgen:claimed
  beat  timestamptz    -- qgen:heartbeat timeout=arg
);
