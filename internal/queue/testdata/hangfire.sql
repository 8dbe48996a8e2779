CREATE TABLE hangfire.jobqueue (
  id        bigserial NOT NULL,        -- qgen:id 2
  jobid     bigint NOT NULL,           -- qgen:payload
  queue     text NOT NULL,             -- qgen:id 1; topic list
  fetchedat timestamp without time zone NULL, -- qgen:claimed timeout=30m expired=claim
  PRIMARY KEY (queue, id)
);
COMMENT ON TABLE hangfire.jobqueue IS 'qgen:queue jobs done=delete failed=keep clock=utc';
