-- Arguments of the user's: of the handler, of whoever fails a job or claims one.
-- qgen:queue
CREATE TABLE given (
  id       bigint PRIMARY KEY,
  state    text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
  till     timestamptz,   -- qgen:lease length=5m
  tries    int NOT NULL,  -- qgen:attempts up on=claim max=3
  answer   text,          -- qgen:result
  response int,           -- qgen:on done set arg:response
  code     int,           -- qgen:on retry,fail set arg:code
  host     text           -- qgen:on claim set arg:host
);
