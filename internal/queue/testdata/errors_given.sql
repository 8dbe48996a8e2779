-- qgen:queue
CREATE TABLE errors_given (
  id     bigint PRIMARY KEY,
  state  text NOT NULL, -- qgen:status ready=N running=A done=D failed:=arg:what
  a      int, -- qgen:on fail set arg:code; on retry set arg:7up
  b      int  -- qgen:on done set arg:code
);
