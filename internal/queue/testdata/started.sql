-- qgen:queue books done=delete recover=start
CREATE TABLE books (id bigint PRIMARY KEY, busy boolean NOT NULL DEFAULT false -- qgen:status ready=false running=true
);
-- qgen:queue mails recover=start
CREATE TABLE mails (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N claimed=C running=A done=D failed=F
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
  w text -- qgen:worker
);
-- qgen:queue commands recover=start expired=fail
CREATE TABLE commands (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D failed=F|O; on giveup set O
  c timestamptz -- qgen:claimed
);
-- qgen:queue stray recover=start
CREATE TABLE stray (id bigint PRIMARY KEY, s char(1) NOT NULL -- qgen:status ready=N running=A done=D failed=F; on recover set F
);
CREATE TABLE always (id bigint PRIMARY KEY, s char(1) NOT NULL, seen timestamptz);
