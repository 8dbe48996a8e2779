-- What is done with jobs that their keys name: they are cancelled for a reason, run now, and
-- retired when they are too old, each by a claim that ends what it is asked for.
-- qgen:queue jobs
CREATE TABLE jobs (
    id     integer PRIMARY KEY AUTOINCREMENT,
    state  text DEFAULT 'new' NOT NULL, -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    made   integer NOT NULL, -- qgen:enqueued(jobs) as=epoch_ms
    run_at integer, -- qgen:due(jobs) as=epoch_ms
    till   integer, -- qgen:lease(jobs) as=epoch_ms length=5m
    tries  int DEFAULT 0 NOT NULL, -- qgen:attempts(jobs) up on=claim max=5
    reason text -- qgen:error(jobs)
);
