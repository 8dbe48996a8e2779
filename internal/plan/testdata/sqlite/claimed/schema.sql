-- A claim leaves a count in the row that Start changes, too.
-- qgen:queue tasks
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    state      TEXT DEFAULT 'pending' NOT NULL, -- qgen:status ready=pending claimed=waiting running=running done=successful failed=failed
    till       INTEGER, -- qgen:lease length=5m as=epoch_ms
    tries      INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    version    INTEGER DEFAULT 0 NOT NULL, -- qgen:version
    claimed_at INTEGER, -- qgen:on claim set now as=epoch_ms
    started_at INTEGER, -- qgen:on start set now as=epoch_ms
    why        TEXT -- qgen:error
);

-- A null tells a claimed job from one that has begun.
-- qgen:queue begun
CREATE TABLE begun (
    id     INTEGER PRIMARY KEY,
    state  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 claimed=1 running=1 done=2
    start  INTEGER, -- qgen:status ready=null claimed=null running=now as=epoch_ms
    since  INTEGER, -- qgen:claimed timeout=5m as=epoch_ms
    holder TEXT -- qgen:worker
);

-- A step that writes another table, and a token that Start leaves as it is.
-- qgen:queue runs
CREATE TABLE runs (
    id     INTEGER PRIMARY KEY,
    state  TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new claimed=assigned running=running|aborting done=over failed=failed
    token  TEXT, -- qgen:token
    beat   INTEGER -- qgen:heartbeat timeout=5m as=epoch_ms; on start set now as=epoch_ms
);

-- Whoever begins a job says where.
-- qgen:queue placed
CREATE TABLE placed (
    id     INTEGER PRIMARY KEY,
    state  TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N claimed=A running=R done=D
    holder TEXT, -- qgen:worker
    place  TEXT, -- qgen:on start set arg:place
    begun  INTEGER DEFAULT 0 NOT NULL -- qgen:payload; on start set +1
);

CREATE TABLE starts (
    run_id INTEGER NOT NULL,
    at     INTEGER NOT NULL
);
