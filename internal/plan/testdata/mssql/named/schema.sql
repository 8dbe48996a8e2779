-- What is done with jobs that their keys name: they are cancelled for a reason, run now, and
-- retired when they are too old, each by a claim that ends what it is asked for.
-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigint IDENTITY PRIMARY KEY,
    state  varchar(10) DEFAULT 'new' NOT NULL, -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    made   datetime2 NOT NULL, -- qgen:enqueued(jobs)
    run_at datetime2, -- qgen:due(jobs)
    till   datetime2, -- qgen:lease(jobs) length=5m
    tries  int DEFAULT 0 NOT NULL, -- qgen:attempts(jobs) up on=claim max=5
    reason nvarchar(200) -- qgen:error(jobs)
);
