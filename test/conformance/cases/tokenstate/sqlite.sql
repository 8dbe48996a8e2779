-- The status becomes the batch key while a job runs.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     VARCHAR(36) NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=token done=done failed=error
    lease_till INTEGER                               -- qgen:lease length=1h as=epoch_ms
);
