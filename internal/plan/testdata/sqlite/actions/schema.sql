-- Jobs, and what an administrator does to those that are named.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    host     TEXT NOT NULL,
    state    TEXT NOT NULL DEFAULT 'new', -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    priority INTEGER NOT NULL DEFAULT 0, -- qgen:priority(jobs) desc
    till     INTEGER, -- qgen:lease(jobs) length=5m as=epoch
    reason   TEXT -- qgen:error(jobs)
);
CREATE INDEX jobs_host ON jobs (host);
CREATE TABLE erased (id INTEGER NOT NULL, host TEXT NOT NULL, reason TEXT);
CREATE TABLE parts (job_id INTEGER NOT NULL, part TEXT NOT NULL);
