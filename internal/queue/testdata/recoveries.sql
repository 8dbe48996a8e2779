-- Recoveries have a limit of their own, and a claim that runs out is no try.
-- qgen:queue uploads
CREATE TABLE uploads (
    id           bigserial PRIMARY KEY,
    state        text NOT NULL DEFAULT 'queued', -- qgen:status ready=queued running=processing done=completed failed=failed
    seen         timestamptz,                    -- qgen:heartbeat timeout=25s
    started      timestamptz,                    -- qgen:claimed
    num_failures int NOT NULL DEFAULT 0,         -- qgen:attempts up on=retry max=3
    num_resets   int NOT NULL DEFAULT 0,         -- qgen:attempts on=recover max=3
    message      text                            -- qgen:error; on giveup set 'reset too often'
);

-- Tries are counted when they begin: what is spent first ends the job. Both limits are of the row.
-- qgen:queue builds failed=delete
CREATE TABLE builds (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    until  timestamptz,                 -- qgen:lease length=5m
    tries  int NOT NULL DEFAULT 0,      -- qgen:attempts up on=claim max=most
    most   int NOT NULL DEFAULT 5,
    resets int,                         -- qgen:attempts on=recover max=most_resets
    most_resets int                     -- qgen:max_attempts null=2 unlimited=-1
);

-- No tries are counted, and those recoveries that are left are.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'available', -- qgen:status ready=available running=running done=completed failed=failed
    beat  timestamptz,                       -- qgen:heartbeat timeout=30s
    held  uuid,                              -- qgen:token
    lives smallint NOT NULL                  -- qgen:attempts down on=recover max=3
);

-- Nothing limits them, or says how many there were.
-- qgen:queue counted
CREATE TABLE counted (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
    until timestamptz,               -- qgen:lease length=5m
    lost  smallint                   -- qgen:attempts on=recover
);
-- qgen:queue left
CREATE TABLE left_over (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    until timestamptz,               -- qgen:lease length=5m
    lives int                        -- qgen:attempts down on=recover
);
-- What SQL writes to the status is not known.
-- qgen:queue told
CREATE TABLE told (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F; on recover,giveup set "case when {row}.begun then 'F' else 'N' end"
    begun   boolean NOT NULL DEFAULT false, -- qgen:on recover set "not {row}.begun"
    until   timestamptz,               -- qgen:lease length=5m
    tries   int NOT NULL DEFAULT 0     -- qgen:attempts up on=claim max=3
);
-- Where any value is enough, it is.
-- qgen:queue marked done=delete
CREATE TABLE marked (
    id     bigserial PRIMARY KEY,
    until  timestamptz,  -- qgen:lease length=5m expired=fail
    failed text          -- qgen:status ready=null running=null failed~set; on fail set arg:why; on giveup set "'lost ' || {row}.id"
);

-- qgen:queue judged_retries
CREATE TABLE judged_retries (
    id    bigint PRIMARY KEY, -- qgen:id
    state int NOT NULL,       -- qgen:status ready=1 running=2 done=3 failed=4; on retry set "CASE WHEN tries > 9 THEN 4 ELSE 1 END"
    tries int NOT NULL        -- qgen:attempts
);

-- qgen:queue parked_retries
CREATE TABLE parked_retries (
    id    bigint PRIMARY KEY, -- qgen:id
    state int NOT NULL        -- qgen:status ready=1 running=2 done=3; on retry set 5
);
