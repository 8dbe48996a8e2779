-- qgen:queue jobs enqueue=update
CREATE TABLE jobs (
  id    bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  body  text,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
