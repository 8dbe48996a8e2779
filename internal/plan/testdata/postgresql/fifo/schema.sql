CREATE TABLE jobs (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status text NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done
    taken  timestamptz,                   -- qgen:claimed timeout=30m
    body   text NOT NULL
);
