-- qgen:queue jobs enqueue=absent
CREATE TABLE jobs (
  id    bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  site  int NOT NULL,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue words
CREATE TABLE words (
  id      int PRIMARY KEY,
  "order" int NOT NULL,
  "limit" int NOT NULL,
  date    date NOT NULL,
  state   text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
CREATE TABLE others (
  n int PRIMARY KEY
);
