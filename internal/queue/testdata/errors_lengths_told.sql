-- qgen:queue asked
CREATE TABLE asked (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  c timestamptz -- qgen:claimed timeout="{arg:patience int}" unit=s
);
-- qgen:queue unclosed
CREATE TABLE unclosed (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  c timestamptz -- qgen:claimed timeout="(id"
);
-- qgen:queue moved done=delete
CREATE TABLE moved (id bigint PRIMARY KEY, mb int NOT NULL);
CREATE TABLE moved_open (id bigint PRIMARY KEY, mb int NOT NULL,
  u timestamptz -- qgen:lease length="mb * 2" unit=m
);
-- qgen:queue strict done=delete
CREATE TABLE strict (id bigint PRIMARY KEY);
CREATE TABLE strict_claims (id bigint PRIMARY KEY, mark uuid NOT NULL, u timestamptz NOT NULL);
