CREATE TABLE jobs (
    id     bigint PRIMARY KEY,
    status text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done
    body   text NOT NULL
);
CREATE INDEX jobs_status_id ON jobs (status, id);
