-- qgen:queue jobs done=delete
CREATE TABLE graphile_worker._private_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id int NOT NULL,                            -- qgen:topic list
  payload json NOT NULL DEFAULT '{}',
  priority smallint NOT NULL DEFAULT 0,            -- qgen:priority asc
  run_at timestamptz NOT NULL DEFAULT now(),       -- qgen:due; order 2
  attempts smallint NOT NULL DEFAULT 0,            -- qgen:attempts up on=claim max=max_attempts
  max_attempts smallint NOT NULL DEFAULT 25 CHECK (max_attempts >= 1),
  last_error text,                                 -- qgen:error clear=retry
  locked_at timestamptz,                           -- qgen:claimed timeout=4h expired=recover
  locked_by text,                                  -- qgen:worker
  is_available boolean GENERATED ALWAYS AS (((locked_at IS NULL) AND (attempts < max_attempts))) STORED NOT NULL -- qgen:status ready~true
);
