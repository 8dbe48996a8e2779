-- Jobs wait for their time, and wait longer after each failure.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    due_at     datetimeoffset NOT NULL DEFAULT SYSDATETIMEOFFSET(), -- qgen:due; order
    tries      int NOT NULL DEFAULT 0,                  -- qgen:attempts up on=retry max=3
    token      uniqueidentifier,                        -- qgen:token
    lease_till datetimeoffset,                          -- qgen:lease length=1h
    last_error nvarchar(max)                            -- qgen:error
);
