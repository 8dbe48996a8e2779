-- qgen:queue done=delete
CREATE TABLE beats (
  id bigint PRIMARY KEY,
  a  timestamptz -- qgen:heartbeat
);
-- qgen:queue done=delete
CREATE TABLE expired_twice (
  id bigint PRIMARY KEY,
  a  timestamptz, -- qgen:lease length=5m expired=claim
  b  timestamptz  -- qgen:claimed expired=recover
);
-- qgen:queue done=delete
CREATE TABLE layouts (
  id bigint PRIMARY KEY,
  a  text, -- qgen:due as=text:'2006-02-01'
  b  text, -- qgen:enqueued as=text:'15:04'
  d  bigint, -- qgen:finished as=epoch clock=local
  c  text DEFAULT CURRENT_TIMESTAMP -- qgen:expires
);
-- qgen:queue qgen:where "a = 1" -- an annotation may follow another without a semicolon
-- qgen:where "b = 2"; (several are joined by and);
-- qgen:queue email; -- and so on
CREATE TABLE spread (
  id bigint PRIMARY KEY,
  a int, b int
);
-- qgen:queue done=delete
CREATE TABLE part (
  id bigint, n int -- qgen:status ready=1.5
) PARTITION BY LIST (n);
-- qgen:queue done=delete
CREATE TABLE beats_alone (
  id bigint PRIMARY KEY,
  a  timestamptz -- qgen:heartbeat timeout=5m
);
