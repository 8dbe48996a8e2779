CREATE SCHEMA pgboss;

CREATE TYPE pgboss.job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');

-- qgen:queue jobs
CREATE TABLE pgboss.job (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL,                          -- qgen:topic
    priority integer NOT NULL DEFAULT 0,         -- qgen:priority desc
    data jsonb,                                  -- qgen:payload json
    state pgboss.job_state NOT NULL DEFAULT 'created', -- qgen:status ready=created|retry running=active done=completed failed=failed; on retry,recover set retry
    retry_limit integer NOT NULL DEFAULT 2,      -- qgen:max_attempts retries
    retry_count integer NOT NULL DEFAULT 0,      -- qgen:attempts up on=retry
    retry_delay integer NOT NULL DEFAULT 0,
    retry_backoff boolean NOT NULL DEFAULT false,
    retry_delay_max integer,
    expire_seconds integer NOT NULL DEFAULT 900,
    deletion_seconds integer NOT NULL DEFAULT 604800,
    singleton_key text,
    singleton_on timestamp without time zone,
    group_id text,
    group_tier text,
    start_after timestamptz NOT NULL DEFAULT now(), -- qgen:due
    created_on timestamptz NOT NULL DEFAULT now(),  -- qgen:enqueued; order 2
    started_on timestamptz,                      -- qgen:claimed timeout=expire_seconds unit=s expired=recover
    completed_on timestamptz,                    -- qgen:finished also_failed
    keep_until timestamptz NOT NULL DEFAULT now() + interval '14 days',
    output jsonb,                                -- qgen:result json
    dead_letter text,
    policy text,
    heartbeat_on timestamptz,
    heartbeat_seconds integer,
    blocked boolean NOT NULL DEFAULT false,      -- qgen:status ready~false
    pending_dependencies integer NOT NULL DEFAULT 0
) PARTITION BY LIST (name);

ALTER TABLE pgboss.job ADD PRIMARY KEY (name, id);

CREATE TABLE pgboss.job_common (LIKE pgboss.job INCLUDING GENERATED INCLUDING DEFAULTS);
ALTER TABLE pgboss.job_common ADD PRIMARY KEY (name, id);
CREATE UNIQUE INDEX job_i1 ON pgboss.job_common (name, COALESCE(singleton_key, '')) WHERE state = 'created' AND policy = 'short';
CREATE UNIQUE INDEX job_i4 ON pgboss.job_common (name, singleton_on, COALESCE(singleton_key, '')) WHERE state <> 'cancelled' AND singleton_on IS NOT NULL;
CREATE INDEX job_i5 ON pgboss.job_common (name, start_after) INCLUDE (priority, created_on, id) WHERE state < 'active';
ALTER TABLE pgboss.job ATTACH PARTITION pgboss.job_common DEFAULT;
