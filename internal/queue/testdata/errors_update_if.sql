-- qgen:queue plain
CREATE TABLE plain (
  id    bigserial PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue absent enqueue=absent
CREATE TABLE absent (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue asked enqueue=update
CREATE TABLE asked (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  body  text
);
-- qgen:queue unknown enqueue=update
CREATE TABLE unknown (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  body  text
);
-- qgen:queue word enqueue=update
CREATE TABLE word (
  id    int PRIMARY KEY,
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  body  text                         -- qgen:update_if "body <> ''"
);
