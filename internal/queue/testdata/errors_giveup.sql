-- Each lacks one thing by which a row is given up.
CREATE TABLE spared (id bigint PRIMARY KEY,
  s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  t timestamptz, -- qgen:lease length=5m
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3; on recover set old
  r text -- qgen:on giveup set 'lost'
);
CREATE TABLE unlimited (id bigint PRIMARY KEY,
  s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  t timestamptz, -- qgen:lease length=5m
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim
  r text -- qgen:on giveup set 'lost'
);
CREATE TABLE unmarked (id bigint PRIMARY KEY,
  s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  t timestamptz, -- qgen:lease length=5m
  r text -- qgen:on giveup set 'lost'
);
CREATE TABLE claimed (id bigint PRIMARY KEY,
  s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F
  t timestamptz, -- qgen:lease length=5m expired=claim
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
  r text -- qgen:on giveup set 'lost'
);
