-- Names that statements or Go packages use themselves.
-- qgen:queue
CREATE TABLE "my.schema"."Job" (
  id        bigserial PRIMARY KEY,
  "select"  text NOT NULL DEFAULT 'it''s "q" \ x', /* qgen:status ready='it''s "q" \ x' running='run
ning' done='dö--ne' failed='f/-a-/il;' */
  "type"    text NOT NULL, -- qgen:topic
  "from"    timestamptz,   -- qgen:due
  "order"   int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
  "where"   timestamptz,   -- qgen:lease length=3s expired=recover
  "token"   uuid,          -- qgen:token
  "group"   text,          -- qgen:worker
  "error x" text,          -- qgen:error
  id_held int, token_held text, c1_held int, job_order int, type_new text, func int, "range" text, want text,
  have text, job text, picked text, "größe" int, "日本" text, "a""b" text, "new
line" text, "limit" int NOT NULL DEFAULT 3, ctx text, err text, string text, "Key" text, "$1" text, "{arg}" text,
  "a;b--c" text, "Status" text, queue text, payload text, nil text, "x*/" text,
  llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllaaa int,
  llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllbbb int,
  c28 text
);
-- qgen:queue
CREATE TABLE picked (
  a int, b int,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  token text,                      -- qgen:token
  job   text,                      -- qgen:result
  PRIMARY KEY (a, b)
);
-- qgen:queue
CREATE TABLE candidate (
  a int, b int,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  tries int,                       -- qgen:attempts up on=claim max=3
  PRIMARY KEY (a, b)
);
-- qgen:queue done=delete
CREATE TABLE job (
  a int, b int,
  since timestamptz, -- qgen:claimed timeout=5m
  PRIMARY KEY (a, b)
);
-- qgen:queue string
CREATE TABLE error (
  id    bigint PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  text -- qgen:result
);
-- qgen:queue
CREATE TABLE ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttaaa (
  id     bigint PRIMARY KEY,
  state  text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  tenant text NOT NULL,             -- qgen:topic
  until  timestamptz                -- qgen:lease length=5m expired=recover
);
