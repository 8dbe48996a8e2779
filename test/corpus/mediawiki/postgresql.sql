-- qgen:queue jobs done=delete
CREATE TABLE job (
  job_id SERIAL NOT NULL,                     -- qgen:order
  job_cmd TEXT DEFAULT '' NOT NULL,           -- qgen:topic
  job_namespace INT NOT NULL,                 -- qgen:payload
  job_title TEXT NOT NULL,                    -- qgen:payload
  job_timestamp TIMESTAMPTZ DEFAULT NULL,
  job_params TEXT NOT NULL,                   -- qgen:payload
  job_random INT DEFAULT 0 NOT NULL,
  job_attempts INT DEFAULT 0 NOT NULL,        -- qgen:attempts up on=claim max=3
  job_token TEXT DEFAULT '' NOT NULL,         -- qgen:token free=''
  job_token_timestamp TIMESTAMPTZ DEFAULT NULL, -- qgen:claimed timeout=1h expired=recover as=text:'20060102150405' clock=utc
  job_sha1 TEXT DEFAULT '' NOT NULL,
  PRIMARY KEY(job_id)
);
CREATE INDEX job_sha1 ON job (job_sha1);
CREATE INDEX job_cmd_token ON job (job_cmd, job_token, job_random);
CREATE INDEX job_cmd_token_id ON job (job_cmd, job_token, job_id);
CREATE INDEX job_cmd ON job (job_cmd, job_namespace, job_title);
CREATE INDEX job_timestamp ON job (job_timestamp);
