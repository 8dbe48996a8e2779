CREATE TYPE job_state AS ENUM ('created', 'retry', 'active', 'completed', 'cancelled', 'failed');
-- qgen:queue jobs
CREATE TABLE pgboss.job (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  name text NOT NULL,                              -- qgen:topic
  priority integer NOT NULL DEFAULT 0,             -- qgen:priority desc
  data jsonb,                                      -- qgen:payload json
  state job_state NOT NULL DEFAULT 'created',      -- qgen:status ready=created|retry running=active done=completed failed=failed; on retry,recover set retry
  retry_limit integer NOT NULL DEFAULT 2,          -- qgen:max_attempts retries
  retry_count integer NOT NULL DEFAULT 0,          -- qgen:attempts up on=retry
  expire_seconds int NOT NULL DEFAULT 900,
  start_after timestamptz NOT NULL DEFAULT now(),  -- qgen:due
  created_on timestamptz NOT NULL DEFAULT now(),   -- qgen:enqueued; order 2
  started_on timestamptz,                          -- qgen:claimed timeout=expire_seconds unit=s expired=recover
  heartbeat_on timestamptz,                        -- qgen:heartbeat
  completed_on timestamptz,                        -- qgen:finished also_failed
  keep_until timestamptz NOT NULL DEFAULT now() + interval '14 days', -- qgen:expires
  output jsonb,                                    -- qgen:result json clear=retry
  blocked boolean NOT NULL DEFAULT false,          -- qgen:status ready~false
  PRIMARY KEY (name, id)
) PARTITION BY LIST (name);
