-- qgen:queue
CREATE TABLE errors_given (
  id     bigint PRIMARY KEY,
  state  text NOT NULL, -- qgen:status ready=N running=A done=D failed:=arg:what
  a      int, -- qgen:on fail set arg:code; on retry set arg:7up
  b      int  -- qgen:on done set arg:code
);
-- qgen:queue done=delete
CREATE TABLE drawn (
  id bigint PRIMARY KEY,
  s  text, -- qgen:status ready=N running=A failed=E
  a  uuid, -- qgen:on fail set token
  b  uuid  -- qgen:on claim set token
);
-- qgen:queue where "id > 5"
CREATE TABLE apart (
  id bigint PRIMARY KEY,
  w  text -- qgen:token worker
);
