-- Names that statements or Go packages use themselves.
-- qgen:queue
CREATE TABLE "Job" (
  id        integer PRIMARY KEY,
  "select"  text NOT NULL DEFAULT 'it''s "q" \ x', /* qgen:status ready='it''s "q" \ x' running='run
ning' done='dö--ne' failed='f/-a-/il;' */
  "type"    text NOT NULL, -- qgen:topic
  "from"    integer,       -- qgen:due as=epoch_ms
  "order"   int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
  "where"   integer,       -- qgen:lease length=3s expired=recover as=epoch_ms
  "token"   text,          -- qgen:token
  "group"   text,          -- qgen:worker
  [error x] text,          -- qgen:error
  id_held int, token_held text, c1_held int, job_order int, type_new text, func int, "range" text, value text, "key" text,
  want text, have text, job text, "größe" int, "日本" text, "a""b" text, "new
line" text, "limit" int NOT NULL DEFAULT 3, ctx text, err text, string text, json_each text, "?1" text, "{arg}" text,
  `a;b--c` text, "Status" text, queue text, payload text, nil text, "x*/" text
);
-- qgen:queue
CREATE TABLE picked (
  a int NOT NULL, b int NOT NULL,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  token text,                      -- qgen:token
  job   text,                      -- qgen:result
  PRIMARY KEY (a, b)
) WITHOUT ROWID;
-- qgen:queue done=delete
CREATE TABLE main."job queue" (
  a int NOT NULL, b int NOT NULL,
  since text, -- qgen:claimed timeout=5m as=text:'2006-01-02 15:04:05' clock=utc
  PRIMARY KEY (a, b)
);
