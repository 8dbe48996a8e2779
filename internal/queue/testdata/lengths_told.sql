-- qgen:queue syncs
CREATE TABLE syncs (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  every int NOT NULL, more int,
  seen timestamptz -- qgen:heartbeat timeout="every + more + 300" unit=s
);
-- qgen:queue uploads done=delete
CREATE TABLE uploads (id bigint PRIMARY KEY, mb int,
  u timestamptz -- qgen:lease length="make_interval(mins => mb)"
);
-- qgen:queue sound done=delete
CREATE TABLE sound (id bigint PRIMARY KEY, mb int NOT NULL, o int,
  u timestamptz -- qgen:lease length="coalesce(o, mb) * 2" unit=m
);
-- qgen:queue plain done=delete
CREATE TABLE plain (id bigint PRIMARY KEY, mb int NOT NULL,
  u timestamptz -- qgen:lease length="mb * 2" unit=m
);
-- qgen:queue waits done=delete
CREATE TABLE waits (id bigint PRIMARY KEY, every int NOT NULL,
  d timestamptz -- qgen:due add="every * 2" unit=m
);
-- qgen:queue reserved
CREATE TABLE reserved (id bigint PRIMARY KEY, s int NOT NULL, -- qgen:status ready=0|5 running=5 done=1
  m timestamptz -- qgen:claimed
);
-- qgen:queue kept
CREATE TABLE kept (id bigint PRIMARY KEY, s int NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
  n int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3; on recover set old
  u timestamptz -- qgen:lease length=5m
);
-- What asks for a null knows what to do with one.
-- qgen:queue asked
CREATE TABLE asked (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  kind text NOT NULL, ended timestamptz,
  seen timestamptz -- qgen:heartbeat timeout="case when kind <> 'once' or ended is null then interval '10 minutes' end"
);
-- What tells cases apart may know it.
-- qgen:queue cased
CREATE TABLE cased (id bigint PRIMARY KEY, s char(1) NOT NULL, -- qgen:status ready=N running=A done=D
  kind text, more int,
  seen timestamptz -- qgen:heartbeat timeout="case when kind = 'slow' then 600 else 60 end + more" unit=s
);
