-- qgen:queue changed enqueue=update
CREATE TABLE changed (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  body  text
);
-- qgen:queue rows
CREATE TABLE rows_ (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue bare
CREATE TABLE bare (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue unknown
CREATE TABLE unknown (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue typeless
CREATE TABLE typeless (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue word
CREATE TABLE word (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  body  text                         -- qgen:enqueue_if "body <> ''"
);
