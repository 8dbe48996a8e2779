-- A claim that ends its jobs writes what is known then.
-- qgen:queue given strategy=pop
CREATE TABLE given (
  id     bigserial PRIMARY KEY,
  state  int NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
  answer text,                   -- qgen:result
  code   int                     -- qgen:on done set arg:code
);
-- qgen:queue silent strategy=pop
CREATE TABLE silent (
  id    bigserial PRIMARY KEY,
  state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1; on done set old
);

-- A claim is the end of a job, so what it writes is said of its end.
-- qgen:queue later strategy=pop
CREATE TABLE later (
    id    int PRIMARY KEY,
    state int NOT NULL, -- qgen:status ready=0 done=1
    at    timestamptz   -- qgen:on claim set now
);

-- qgen:queue skipping strategy=pop locked=skip
CREATE TABLE skipping (
    id    int PRIMARY KEY,
    state int NOT NULL -- qgen:status ready=0 done=1
);

-- qgen:queue gone strategy=pop
CREATE TABLE gone (
    id  int PRIMARY KEY, -- qgen:topic
    due timestamptz      -- qgen:on done set now
);
