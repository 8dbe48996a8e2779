-- MediaWiki's job queue, from tables-generated.sql: '' is nobody's token, times are 14 digits.
-- qgen:queue jobs done=delete
CREATE TABLE /*_*/job (
  job_id INT UNSIGNED AUTO_INCREMENT NOT NULL,       -- qgen:order
  job_cmd VARBINARY(60) DEFAULT '' NOT NULL,         -- qgen:topic
  job_namespace INT NOT NULL,                        -- qgen:payload
  job_title VARBINARY(255) NOT NULL,                 -- qgen:payload
  job_timestamp BINARY(14) DEFAULT NULL,
  job_params MEDIUMBLOB NOT NULL,                    -- qgen:payload
  job_random INT UNSIGNED DEFAULT 0 NOT NULL,
  job_attempts INT UNSIGNED DEFAULT 0 NOT NULL,      -- qgen:attempts up on=claim max=3
  job_token VARBINARY(32) DEFAULT '' NOT NULL,       -- qgen:token free=''
  job_token_timestamp BINARY(14) DEFAULT NULL,       -- qgen:claimed timeout=1h expired=recover as=text:'20060102150405' clock=utc
  job_sha1 VARBINARY(32) DEFAULT '' NOT NULL,
  INDEX job_sha1 (job_sha1),
  INDEX job_cmd_token (job_cmd, job_token, job_random),
  INDEX job_cmd_token_id (job_cmd, job_token, job_id),
  INDEX job_cmd (job_cmd, job_namespace, job_title, job_params(128)),
  INDEX job_timestamp (job_timestamp),
  PRIMARY KEY(job_id)
) /*$wgDBTableOptions*/;
