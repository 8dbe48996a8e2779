-- A claim leaves a count in the row that Start changes, too.
-- qgen:queue tasks
CREATE TABLE tasks (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      varchar(10) DEFAULT 'pending' NOT NULL, -- qgen:status ready=pending claimed=waiting running=running done=successful failed=failed
    till       timestamptz, -- qgen:lease length=5m
    tries      integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    version    integer DEFAULT 0 NOT NULL, -- qgen:version
    claimed_at timestamptz, -- qgen:on claim set now
    started_at timestamptz, -- qgen:on start set now
    why        text -- qgen:error
);

-- A null tells a claimed job from one that has begun.
-- qgen:queue begun
CREATE TABLE begun (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 claimed=1 running=1 done=2
    start  timestamptz, -- qgen:status ready=null claimed=null running=now
    since  timestamptz, -- qgen:claimed timeout=5m
    holder text -- qgen:worker
);

-- A step that writes another table, and a token that Start leaves as it is.
-- qgen:queue runs
CREATE TABLE runs (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  varchar(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new claimed=assigned running=running|aborting done=over failed=failed
    token  uuid, -- qgen:token
    beat   timestamptz -- qgen:heartbeat timeout=5m; on start set now
);

-- Whoever begins a job says where.
-- qgen:queue placed
CREATE TABLE placed (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  varchar(10) DEFAULT 'N' NOT NULL, -- qgen:status ready=N claimed=A running=R done=D
    holder text, -- qgen:worker
    place  text, -- qgen:on start set arg:place
    begun  integer DEFAULT 0 NOT NULL -- qgen:payload; on start set +1
);

CREATE TABLE starts (
    run_id bigint NOT NULL,
    at     timestamptz NOT NULL
);

-- The time by which work has to end begins with it: no claim that has not begun runs out.
-- qgen:queue reserved
CREATE TABLE reserved (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new claimed=held running=busy done=done failed=failed
    held_at timestamptz, -- qgen:claimed
    till    timestamptz, -- qgen:lease length=5m expired=fail; on claim set null; on start set now+5m
    body    text NOT NULL
);
