-- Jobs, and what an administrator does to those that are named.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    host     varchar(40) NOT NULL,
    state    varchar(40) NOT NULL DEFAULT 'new', -- qgen:status(jobs) ready=new running=busy done=done failed=failed
    priority int NOT NULL DEFAULT 0, -- qgen:priority(jobs) desc
    till     datetime(6), -- qgen:lease(jobs) length=5m
    reason   varchar(40) -- qgen:error(jobs)
);
CREATE INDEX jobs_host ON jobs (host);
CREATE TABLE erased (id bigint NOT NULL, host varchar(40) NOT NULL, reason varchar(40), at datetime(6) NOT NULL);
CREATE TABLE parts (job_id bigint NOT NULL, part varchar(40) NOT NULL);
