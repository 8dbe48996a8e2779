-- qgen:queue jobs done=delete
CREATE TABLE job (
  job_id              integer PRIMARY KEY AUTOINCREMENT,   -- qgen:order
  job_cmd             blob NOT NULL DEFAULT '',            -- qgen:topic
  job_attempts        integer unsigned NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
  job_token           blob NOT NULL DEFAULT '',            -- qgen:token free=''
  job_token_timestamp blob DEFAULT NULL,                   -- qgen:claimed timeout=1h expired=recover as=text:'20060102150405' clock=utc
  job_params          blob NOT NULL
);
