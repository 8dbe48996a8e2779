-- No count of tries is needed, and one that is there is what Fail goes by.
-- qgen:queue leased
CREATE TABLE leased (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new claimed=taken running=run done=ok failed=bad
    until  timestamptz,                 -- qgen:lease length=5m expired=fail
    tries  int NOT NULL DEFAULT 0,      -- qgen:attempts up on=claim max=3
    reason text,                        -- qgen:error
    ended  timestamptz,                 -- qgen:finished also_failed
    code   int                          -- qgen:on fail set arg:code; on giveup set 9
);

-- What is due and taken in one column is told apart by the status.
-- qgen:queue hidden
CREATE TABLE hidden (
    id    bigserial PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    until timestamptz                   -- qgen:visible length=5m expired=fail
);

-- qgen:queue beating done=delete failed=delete
CREATE TABLE beating (
    id   bigserial PRIMARY KEY,
    busy boolean NOT NULL DEFAULT false, -- qgen:status ready=false running=true
    beat timestamptz                     -- qgen:heartbeat timeout=1m expired=fail
);

-- qgen:queue asked
CREATE TABLE asked (
    id    bigserial PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    begun timestamptz                   -- qgen:claimed expired=fail
);

-- Nothing but the mark of the claim tells a running row, and the error a failed one.
-- qgen:queue marked done=delete
CREATE TABLE marked (
    id     bigserial PRIMARY KEY,
    reason text,        -- qgen:status ready=null running=null failed~set; error
    until  timestamptz  -- qgen:lease length=5m expired=fail
);

-- The rows of those whose workers are gone go to another table.
-- qgen:queue owned done=delete
CREATE TABLE owned (
    id    bigserial PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A
    owner text                          -- qgen:worker expired=fail
);
CREATE TABLE dead (id bigint PRIMARY KEY, why text);
CREATE TABLE nodes (name text PRIMARY KEY, seen timestamptz);

-- A job that runs in another table fails there.
-- qgen:queue moved done=delete failed=delete
CREATE TABLE moved (id bigserial PRIMARY KEY, body text);
CREATE TABLE moved_running (id bigint PRIMARY KEY, body text,
    until timestamptz -- qgen:lease length=5m expired=fail
);

-- What Recover writes is a failed row, or none that the queue knows.
-- qgen:queue noreply
CREATE TABLE noreply (
    id      bigserial PRIMARY KEY,
    state   int NOT NULL DEFAULT 2, -- qgen:status ready=2 running=4 done=5 failed=5; on recover set 5
    outcome int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=0 done=1 failed=3|4; on recover set 4
    until   timestamptz             -- qgen:lease length=5m
);

-- qgen:queue strayed
CREATE TABLE strayed (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=run done=ok failed=bad; on recover set 'lost'
    until timestamptz                  -- qgen:lease length=5m
);
