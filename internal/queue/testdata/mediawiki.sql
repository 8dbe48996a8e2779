-- qgen:queue jobs done=delete
CREATE TABLE job (
  job_id              serial PRIMARY KEY,                  -- qgen:order
  job_cmd             text NOT NULL DEFAULT '',            -- qgen:topic
  job_namespace       int NOT NULL,                        -- qgen:payload
  job_title           text NOT NULL,                       -- qgen:payload
  job_timestamp       timestamptz NULL,                    -- qgen:ignore
  job_params          text NOT NULL,                       -- qgen:payload
  job_attempts        int NOT NULL DEFAULT 0,              -- qgen:attempts up on=claim max=3
  job_token           varchar(32) NOT NULL DEFAULT '',     -- qgen:token free=''
  job_token_timestamp timestamptz,                         -- qgen:claimed timeout=1h expired=recover as=text:'20060102150405' clock=utc
  job_sha1            text NOT NULL DEFAULT ''             -- qgen:ignore
);
