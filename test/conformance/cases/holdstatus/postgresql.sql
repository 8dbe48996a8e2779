-- A status without a running state: the row lock is the claim, the status keeps the outcome.
-- qgen:queue
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    n      bigint NOT NULL,                          -- qgen:payload
    status text NOT NULL DEFAULT 'ready'             -- qgen:status ready=ready done=done failed=failed
);
