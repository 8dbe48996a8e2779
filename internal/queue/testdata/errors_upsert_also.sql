-- qgen:queue urls enqueue=update
CREATE TABLE urls (id bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
CREATE TABLE journal (url text NOT NULL);
