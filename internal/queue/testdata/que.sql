-- qgen:queue
CREATE TABLE que_jobs (
  priority    smallint DEFAULT 100 NOT NULL, -- qgen:priority asc
  run_at      timestamptz DEFAULT now() NOT NULL, -- qgen:due; order 1
  id          bigserial PRIMARY KEY,
  job_class   text NOT NULL,
  error_count integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=15
  last_error  text, -- qgen:error max=500
  queue       text DEFAULT 'default'::text NOT NULL, -- qgen:topic
  finished_at timestamptz, -- qgen:status ready=null done=now failed=null
  expired_at  timestamptz -- qgen:status ready=null failed=now done=null
);
