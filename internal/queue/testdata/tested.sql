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
