CREATE TABLE wrong ( -- qgen:queue
  id    NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  state NUMBER(1) NOT NULL, -- qgen:status ready=-1 running=10 done=2
  code  NUMBER NOT NULL,    -- qgen:status ready=0 running=0.5
  token NUMBER(18)          -- qgen:token
);
CREATE TABLE right ( -- qgen:queue
  id    NUMBER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  state NUMBER(2) NOT NULL, -- qgen:status ready=-10 running=10 done=99
  token NUMBER(19)          -- qgen:token
);
