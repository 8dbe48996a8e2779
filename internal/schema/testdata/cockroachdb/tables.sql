-- What CockroachDB shares with PostgreSQL.
CREATE TABLE public.jobs (
    id INT8 NOT NULL DEFAULT unique_rowid(),
    state TEXT NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done
    lease_till TIMESTAMPTZ NULL,         -- qgen:lease length=5m
    payload JSONB NOT NULL,
    CONSTRAINT jobs_pkey PRIMARY KEY (id),
    CONSTRAINT state_known CHECK (state IN ('ready', 'running', 'done'))
);
CREATE INDEX jobs_ready ON public.jobs (id) WHERE state = 'ready';
