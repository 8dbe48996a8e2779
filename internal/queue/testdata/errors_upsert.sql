-- qgen:queue named key=named_url
CREATE TABLE named (id bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue left enqueue=absent key=url
CREATE TABLE left_out (id bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- qgen:queue visits enqueue=update
CREATE TABLE visits (id bigserial PRIMARY KEY, -- qgen:seq settle=0s
  url   text NOT NULL UNIQUE
);
-- qgen:queue plain
CREATE TABLE plain (id bigserial PRIMARY KEY,
  url   text NOT NULL UNIQUE,
  at    timestamptz,                 -- qgen:on update set now
  state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
  note  text                         -- qgen:on conflict set 'x'
);
-- qgen:queue urls enqueue=update
CREATE TABLE urls (id bigserial PRIMARY KEY, -- qgen:on update set 7
  url   text NOT NULL UNIQUE,
  mark  uuid,                        -- qgen:token; on update set token
  who   text,                        -- qgen:worker; on update set worker
  code  int,                         -- qgen:on update,fail set arg:code
  a     int,                         -- qgen:on update set "{new}"
  b     int,                         -- qgen:on update set "{new}.bb + 1"
  c     int,                         -- qgen:on update,claim set "{new}.c"
  d     int,                         -- qgen:on claim set "{new}.c"
  e     int,                         -- qgen:on update set "{new}.length(e)"
  state text NOT NULL DEFAULT 'new'  -- qgen:status ready=new running=busy done=done failed=bad
);
