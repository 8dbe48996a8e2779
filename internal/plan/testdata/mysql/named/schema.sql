-- What is done with jobs that their keys name: they are cancelled for a reason, run now, and
-- retired when they are too old, each by a claim that ends what it is asked for.
-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) DEFAULT 'new' NOT NULL, -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    made   datetime(6) NOT NULL, -- qgen:enqueued(jobs)
    run_at datetime(6), -- qgen:due(jobs)
    till   datetime(6), -- qgen:lease(jobs) length=5m
    tries  int DEFAULT 0 NOT NULL, -- qgen:attempts(jobs) up on=claim max=5
    reason varchar(200) -- qgen:error(jobs)
);
