-- States of a CHECK, and one that the queue leaves alone.
-- qgen:queue
CREATE TABLE jobs (
    id         TEXT PRIMARY KEY NOT NULL,
    n          INTEGER NOT NULL,                     -- qgen:payload; order
    state      TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'parked', 'running', 'done', 'failed')), -- qgen:status ready=queued running=running done=done failed=failed
    version    INTEGER NOT NULL DEFAULT 0,           -- qgen:version
    lease_till INTEGER                               -- qgen:lease length=1h as=epoch_ms
);
