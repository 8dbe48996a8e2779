-- Further ways to settle a job, with a lease that is the due time as well.
-- qgen:queue
CREATE TABLE named (
  id       bigint PRIMARY KEY,
  state    text NOT NULL,        -- qgen:status ready=N|P running=A done=D failed=E
  vt       timestamptz NOT NULL, -- qgen:visible length=5m
  tries    int NOT NULL,         -- qgen:attempts up on=claim max=3
  answer   text,                 -- qgen:result; on done set arg:answer
  ended    timestamptz,          -- qgen:finished
  failure  text,                 -- qgen:error
  note     text
);
