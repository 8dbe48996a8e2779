-- A default that is the session's present: the clock of the queue says what a new job has, and a time that is
-- given goes through no zone.
-- qgen:queue waits
CREATE TABLE waits (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,                                -- qgen:status ready=new running=busy done=done failed=failed
    run_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP  -- qgen:due
);

-- qgen:queue moved
CREATE TABLE moved (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,                                             -- qgen:status ready=new running=busy done=done failed=failed
    run_at timestamp NOT NULL DEFAULT now() + '1 hour'::interval      -- qgen:due
);
