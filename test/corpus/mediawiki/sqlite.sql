-- qgen:queue jobs done=delete
CREATE TABLE /*_*/job (
  job_id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, -- qgen:order
  job_cmd BLOB DEFAULT '' NOT NULL,                  -- qgen:topic
  job_namespace INTEGER NOT NULL,                    -- qgen:payload
  job_title BLOB NOT NULL,                           -- qgen:payload
  job_timestamp BLOB DEFAULT NULL,
  job_params BLOB NOT NULL,                          -- qgen:payload
  job_random INTEGER UNSIGNED DEFAULT 0 NOT NULL,
  job_attempts INTEGER UNSIGNED DEFAULT 0 NOT NULL,  -- qgen:attempts up on=claim max=3
  job_token BLOB DEFAULT '' NOT NULL,                -- qgen:token free=''
  job_token_timestamp BLOB DEFAULT NULL,             -- qgen:claimed timeout=1h expired=recover as=text:'20060102150405' clock=utc
  job_sha1 BLOB DEFAULT '' NOT NULL
);
CREATE INDEX job_sha1 ON /*_*/job (job_sha1);
CREATE INDEX job_cmd_token ON /*_*/job (job_cmd, job_token, job_random);
CREATE INDEX job_cmd_token_id ON /*_*/job (job_cmd, job_token, job_id);
CREATE INDEX job_cmd ON /*_*/job (job_cmd, job_namespace, job_title, job_params);
CREATE INDEX job_timestamp ON /*_*/job (job_timestamp);
