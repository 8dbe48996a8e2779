-- The plain table: one key, one status, everything that most queues have.
-- qgen:queue
CREATE TABLE jobs (
    id          bigint IDENTITY NOT NULL PRIMARY KEY,
    n           bigint NOT NULL,                        -- qgen:payload
    status      varchar(16) NOT NULL DEFAULT 'ready',   -- qgen:status ready=ready running=running done=done failed=failed
    tries       int NOT NULL DEFAULT 0,                 -- qgen:attempts up on=claim max=3
    lease_till  datetime2(3),                           -- qgen:lease length=1h clock=utc
    worker      varchar(64),                            -- qgen:worker
    last_error  nvarchar(400),                          -- qgen:error max=200
    enqueued_at datetimeoffset(7) NOT NULL DEFAULT SYSDATETIMEOFFSET(), -- qgen:enqueued
    finished_at datetimeoffset(3)                       -- qgen:finished
);
