-- qgen:queue tasks recover=own
CREATE TABLE tasks (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N claimed=C running=A done=D failed=F
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
  w text -- qgen:worker
);
-- qgen:queue steps recover=own expired=fail
CREATE TABLE steps (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  w int NOT NULL DEFAULT 0 -- qgen:worker free=0
);
-- qgen:queue named done=delete recover=own
CREATE TABLE named (id bigint PRIMARY KEY,
  w text -- qgen:status ready=null running=worker
);
