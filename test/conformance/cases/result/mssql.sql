-- The worker's answer is put back into the row, and so is what else it says.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    owner      varchar(64),                             -- qgen:worker
    answer     nvarchar(max),                           -- qgen:result
    score      int,                                     -- qgen:on done set arg:score
    code       int,                                     -- qgen:on fail set arg:code
    host       nvarchar(64)                             -- qgen:on claim set arg:host
);
