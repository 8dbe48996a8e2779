-- qgen:queue texts
CREATE TABLE texts (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  a     text, -- qgen:result append
  b     text  -- qgen:worker append free=''
);
-- qgen:queue documents
CREATE TABLE documents (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  a     jsonb -- qgen:result max=10 append
);
-- qgen:queue numbers
CREATE TABLE numbers (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A done=D
  a     int, -- qgen:result max=10
  b     varchar(20) -- qgen:error max=30
);
