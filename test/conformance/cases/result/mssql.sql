-- The worker's answer is put back into the row.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    owner      varchar(64),                             -- qgen:worker
    answer     nvarchar(max)                            -- qgen:result
);
