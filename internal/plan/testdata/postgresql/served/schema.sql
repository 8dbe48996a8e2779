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
