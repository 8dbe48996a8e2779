-- qgen:queue
CREATE TABLE grammar (
  id   bigint PRIMARY KEY,   -- qgen:
  a    text, -- qgen: status ready=N
  b    text, -- qgen:status(one two) ready=N
  c    text, -- qgen:topic() list
  d    text, -- qgen:status ready= done=D
  e    text, -- qgen:status ready=N| done=D
  f    text, -- qgen:status ready = N
  g    text, -- qgen:status ready='N
  h    text, -- qgen:status ready=N (waiting
  i    text, -- qgen:status ready=N )
  j    text, -- qgen:payload; ordered by time
  k    text, -- qgen:statsu ready=N
  l    text, -- qgen:status raedy=N
  m    timestamptz, -- qgen:lease length=5m lenght=3m
  n    text, -- qgen:status ready=a,b
  o    text, -- qgen:ignore me
  p    text, -- qgen:id first
  q    text, -- qgen:topic list=1 optional optional
  r    timestamptz, -- qgen:lease length length~5m expired=maybe expired=clam
  s    timestamptz, -- qgen:due null='now' add:=5m never=a|b
  t    text, -- qgen:payload type=a type=b; json
  u    text, -- see the note (qgen:status is free text here), qgen:ignore -- and; here
  v    text  -- qgen:ignore 'quoted'
);
/* qgen:where
   qgen:where suspended
   qgen:where "a" "b"
   qgen:queue one two
   qgen:queue 'three' */
CREATE TABLE grammar_table (
  id bigint PRIMARY KEY -- qgen:status
);
-- qgen:queue email mails
CREATE TABLE other_words (
  id bigint PRIMARY KEY, -- qgen:key
  s  text NOT NULL,      -- qgen:status pending=N processing=A completed=C
  t  text NOT NULL,      -- qgen:status ready:N running=A
  a  timestamptz,        -- qgen:lease 5m
  b  timestamptz,        -- qgen:run_at
  p  int,                -- qgen:priority descending
  q  int,                -- qgen:order last
  r  timestamptz,        -- qgen:on complete set now
  u  timestamptz         -- qgen:lease length=-5m
);
-- qgen:queue
CREATE TABLE pairs (
  id bigint PRIMARY KEY,
  s  int, -- qgen:status ready=null running=set running:="coalesce(n, 0) + 1" done=2|4 done:=4
  t  int, -- qgen:status ready:=0 ready=null running~1 running=2 failed=5 failed=6
  m  int, -- qgen:on done set "coalesce("n", 0)"
  n  int
);
-- Words of others are told in those of this language, and so is what stands elsewhere.
-- qgen:queue=mails
CREATE TABLE others (
    id    bigserial PRIMARY KEY, -- qgen:strategy=hold
    state text NOT NULL, -- qgen:status: ready=new
    kind  text NOT NULL, -- qgen:status ready='new' or 'retry'
    till  timestamptz,   -- qgen:locked_until; claim set now
    held  timestamptz,   -- qgen:lease=5m
    made  text,          -- qgen:on claim set NOW(); backoff base=5s
    who   text           -- qgen.worker
);
