-- So many jobs of a lane run at once; a job without a lane runs as it comes.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    lane       int,                                  -- qgen:group limit=1 free=null
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    due_at     timestamptz NOT NULL DEFAULT now(),   -- qgen:due
    tries      int NOT NULL DEFAULT 0,               -- qgen:attempts up on=retry max=3
    token      uuid,                                 -- qgen:token
    lease_till timestamptz                           -- qgen:lease length=1h
);
