-- Jobs, and what an administrator does to those that are named.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       INT8 PRIMARY KEY DEFAULT unique_rowid(),
    host     VARCHAR(40) NOT NULL,
    state    VARCHAR(40) NOT NULL DEFAULT 'new', -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    priority INT8 NOT NULL DEFAULT 0, -- qgen:priority(jobs) desc
    till     TIMESTAMPTZ, -- qgen:lease(jobs) length=5m
    reason   VARCHAR(40) -- qgen:error(jobs)
);
CREATE INDEX jobs_host ON jobs (host);
CREATE TABLE erased (id INT8 NOT NULL, host VARCHAR(40) NOT NULL, reason VARCHAR(40), at TIMESTAMPTZ NOT NULL);
CREATE TABLE parts (job_id INT8 NOT NULL, part VARCHAR(40) NOT NULL);
