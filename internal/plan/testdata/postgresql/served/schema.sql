CREATE TABLE jobs (
    id     bigint PRIMARY KEY,
    status text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done
    body   text NOT NULL
);
CREATE INDEX jobs_status_id ON jobs (status, id);
CREATE TABLE items (
    id        bigserial PRIMARY KEY,
    available boolean NOT NULL DEFAULT true -- qgen:status ready=true running=false
);
CREATE INDEX items_available ON items (id) WHERE available;
CREATE TABLE files (
    id        bigserial PRIMARY KEY,
    processed boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true
);
CREATE INDEX files_waiting ON files (id) WHERE NOT processed;

-- The key only tells apart what is of one time: the server sorts these, and no more.
CREATE TABLE tasks (
    id        bigserial PRIMARY KEY,
    priority  smallint NOT NULL DEFAULT 0,           -- qgen:priority asc
    run_at    timestamptz NOT NULL DEFAULT now(), -- qgen:due; order
    available boolean NOT NULL DEFAULT true,      -- qgen:status ready=true running=false
    since     timestamptz                         -- qgen:claimed timeout=4h
);
CREATE INDEX tasks_main ON tasks (priority, run_at) WHERE available;
-- A priority is that of too many.
CREATE TABLE ranked (
    id       bigserial PRIMARY KEY,
    priority smallint NOT NULL DEFAULT 0,  -- qgen:priority asc
    state    text NOT NULL DEFAULT 'ready' -- qgen:status ready=ready running=running done=done
);
CREATE INDEX ranked_main ON ranked (priority) WHERE state = 'ready';
-- An index is read from either end, and one that begins with the state finds what runs.
CREATE TABLE urgent (
    id       bigserial PRIMARY KEY,        -- qgen:order 2 desc
    priority smallint NOT NULL DEFAULT 0,  -- qgen:order 1 desc
    state    text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done
    since    timestamptz                   -- qgen:claimed timeout=10m
);
CREATE INDEX urgent_main ON urgent (state, priority, id);
-- No two rows have one owner, so that a unique key finds all that there is.
CREATE TABLE removals (
    id       bigserial PRIMARY KEY,
    owner    text NOT NULL UNIQUE, -- qgen:topic
    start_at bigint NOT NULL DEFAULT 0 -- qgen:status ready=0
);
-- Here the state is part of what no two rows have; the other key says nothing of other states.
CREATE TABLE claims (
    id    bigserial PRIMARY KEY,
    place text NOT NULL,              -- qgen:topic
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE (state, place)
);
CREATE UNIQUE INDEX claims_busy ON claims (place) WHERE state = 'busy';
-- What is sorted anyway is found as well by any index that leads to the ready rows.
CREATE TABLE imports (
    id         bigserial PRIMARY KEY,
    size       bigint,
    added      timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
    processing boolean DEFAULT false -- qgen:status ready=false running=true
);
CREATE INDEX imports_processing ON imports (processing);
-- So it is where several values mean ready.
CREATE TABLE uploads (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new|again running=busy done=done
    shop  int NOT NULL   -- qgen:topic
);
CREATE INDEX uploads_shop ON uploads (shop, state);
-- A time that each step which gives a row up sets to null is one of running rows alone; what is
-- written when a row is added is not.
CREATE TABLE builds (
    id        bigserial PRIMARY KEY,
    worker    int,         -- qgen:status ready=null; worker free=null
    last_ping timestamptz  -- qgen:heartbeat timeout=9m expired=recover; on retry,release,recover set null
);
CREATE INDEX builds_ping ON builds (last_ping);
CREATE TABLE born (
    id        bigserial PRIMARY KEY,
    worker    int,         -- qgen:status ready=null; worker free=null
    last_ping timestamptz DEFAULT now() -- qgen:heartbeat timeout=9m expired=recover; on retry,release,recover set null
);
CREATE INDEX born_ping ON born (last_ping);
-- What is sorted anyway is found by the time, so that rows that wait are not read.
CREATE TABLE draws (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    due_at timestamptz                  -- qgen:due
);
-- What SQL reads by an argument are rows that the key finds, and where nobody says an order, none is wanted
-- of an index for rows that are only changed.
-- qgen:queue steps
CREATE TABLE steps (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    parent bigint,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=run done=done failed=off
    since  timestamptz,                 -- qgen:claimed timeout=5m
    grade  int NOT NULL DEFAULT 0
);
CREATE INDEX steps_state ON steps (state);
-- What is compared with a value is not null, as the predicate of an index says.
-- qgen:queue locks done=delete
CREATE TABLE locks (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site  int,                          -- qgen:topic; group limit=5
    until timestamptz,                  -- qgen:lease length=5m free=null expired=recover; status ready=null running~set
    agent text                          -- qgen:worker
);
CREATE INDEX locks_shared ON locks (site, id) WHERE site IS NOT NULL AND until IS NOT NULL;
CREATE INDEX locks_ordering ON locks (site, id) WHERE site IS NOT NULL AND until IS NULL;
CREATE INDEX locks_until ON locks (until) WHERE until IS NOT NULL;
-- All new rows have one time: by the key as well, all of them would be sorted for each claim.
-- qgen:queue aggregations
CREATE TABLE aggregations (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'open',                  -- qgen:status ready=open done=done
    expiry timestamptz NOT NULL DEFAULT '2000-01-01 00:00Z', -- qgen:visible length=10m; order 1; on enqueue set '2000-01-01 00:00:00+00'
    token  bytea                                          -- qgen:token free=null
);
CREATE INDEX aggregations_open ON aggregations (expiry) WHERE state = 'open';
