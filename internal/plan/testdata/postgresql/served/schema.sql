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
