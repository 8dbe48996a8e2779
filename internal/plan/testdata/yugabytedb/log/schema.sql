CREATE TABLE events (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    kind       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), -- qgen:seq notunique gaps settle=60s
    body       jsonb NOT NULL
);
