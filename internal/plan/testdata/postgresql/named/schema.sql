-- What is done with jobs that their keys name: they are cancelled for a reason, run now, and
-- retired when they are too old, each by a claim that ends what it is asked for.
-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text DEFAULT 'new' NOT NULL, -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    made   timestamptz NOT NULL, -- qgen:enqueued(jobs)
    run_at timestamptz, -- qgen:due(jobs)
    till   timestamptz, -- qgen:lease(jobs) length=5m
    tries  int DEFAULT 0 NOT NULL, -- qgen:attempts(jobs) up on=claim max=5
    reason text -- qgen:error(jobs)
);
