-- Jobs wait for their time, and wait longer after each failure.
-- qgen:queue
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    due_at     timestamptz NOT NULL DEFAULT now(),   -- qgen:due; order
    tries      int NOT NULL DEFAULT 0,               -- qgen:attempts up on=retry max=3
    token      uuid,                                 -- qgen:token
    lease_till timestamptz,                          -- qgen:lease length=1h
    last_error text                                  -- qgen:error
);
