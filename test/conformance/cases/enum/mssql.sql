-- States that a CHECK lists, and one that the queue leaves alone.
-- qgen:queue
CREATE TABLE jobs (
    id         uniqueidentifier NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload; order
    state      varchar(16) NOT NULL DEFAULT 'queued'    -- qgen:status ready=queued running=running done=done failed=failed
               CHECK (state IN ('queued', 'parked', 'running', 'done', 'failed')),
    version    int NOT NULL DEFAULT 0,                  -- qgen:version
    lease_till datetime2                                -- qgen:lease length=1h clock=utc
);
