-- qgen:queue jobs enqueue=absent
CREATE TABLE jobs (
  id    bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  site  int NOT NULL,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
