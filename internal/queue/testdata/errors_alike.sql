-- qgen:queue a like="kind" done=delete
CREATE TABLE a (id bigserial PRIMARY KEY, kind text);
-- qgen:queue b enqueue=absent among=ready done=delete
CREATE TABLE b (id bigserial PRIMARY KEY, kind text);
-- qgen:queue c enqueue=absent like="kind, body, kind" done=delete
CREATE TABLE c (id bigserial PRIMARY KEY, kind text, body jsonb);
-- qgen:queue d enqueue=absent like="kind, kind" done=delete
CREATE TABLE d (id bigserial PRIMARY KEY, kind text);
-- qgen:queue e enqueue=absent like="kinds" done=delete
CREATE TABLE e (id bigserial PRIMARY KEY, kind text);
-- qgen:queue f enqueue=absent like="kind" among=waiting
CREATE TABLE f (id bigserial PRIMARY KEY, kind text, state text NOT NULL DEFAULT 'new'); -- qgen:status ready=new running=busy done=done
-- qgen:queue g enqueue=absent like="kind" among=ready|ready done=delete
CREATE TABLE g (id bigserial PRIMARY KEY, kind text);
-- qgen:queue h enqueue=absent like="kind" among=ready|failed done=delete failed=delete
CREATE TABLE h (id bigserial PRIMARY KEY, kind text, till timestamptz); -- qgen:lease length=5m
-- qgen:queue i enqueue=absent like="kind" among="ready|done"
CREATE TABLE i (id bigserial PRIMARY KEY, kind text, state text NOT NULL DEFAULT 'new'); -- qgen:status ready=new running=busy done=done
-- qgen:queue j enqueue=absent like="lower(email), kind" done=delete
CREATE TABLE j (id bigserial PRIMARY KEY, email text, kind text);
-- qgen:queue k enqueue=absent like="kind" among="ready, running" done=delete
CREATE TABLE k (id bigserial PRIMARY KEY, kind text);
-- qgen:queue l enqueue=absent nulls=distinct done=delete
CREATE TABLE l (id bigserial PRIMARY KEY, kind text);
-- qgen:queue m enqueue=absent like="kind" nulls=distinct done=delete
CREATE TABLE m (id bigserial PRIMARY KEY, kind text NOT NULL);
-- qgen:queue n enqueue=absent like="kind" nulls=alike done=delete
CREATE TABLE n (id bigserial PRIMARY KEY, kind text);
-- qgen:queue o enqueue=absent like="kind" among=ready done=delete failed=delete
CREATE TABLE o (id bigserial PRIMARY KEY, kind text, due timestamptz NOT NULL); -- qgen:visible length=5m
-- qgen:queue p enqueue=absent like="kind" among=ready
CREATE TABLE p (id bigserial PRIMARY KEY, kind text,
    state text NOT NULL, -- qgen:status ready=new running=busy done=done
    since timestamptz); -- qgen:claimed timeout=arg expired=claim
