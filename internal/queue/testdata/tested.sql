-- What is only tested may begin with another value.
-- qgen:queue
CREATE TABLE builds (
  id        bigserial PRIMARY KEY,
  status    text NOT NULL DEFAULT 'pending',  -- qgen:status ready=pending running=started done=ended
  scheduled boolean NOT NULL DEFAULT false,   -- qgen:status ready~true
  wanted    boolean NOT NULL DEFAULT true,    -- qgen:status ready~true
  kind      text,                             -- qgen:status ready~a|b
  given     int NOT NULL                      -- qgen:status ready~1
);

-- What is told by SQL may stay as it is where it is said so: a row that was tried is ready by its start.
-- qgen:queue
CREATE TABLE backups (
  id      bigserial PRIMARY KEY,
  started timestamptz,                        -- qgen:status ready~"coalesce(started, '1970-01-01') < now() - interval '1 day'" running=now; on retry,release set old
  ended   timestamptz                         -- qgen:status running=null done=now; on retry,release set now
);
