-- No status: three times that are null until it happened.
-- qgen:queue
CREATE TABLE jobs (
    id          bigint IDENTITY NOT NULL PRIMARY KEY,
    n           bigint NOT NULL,                        -- qgen:payload
    started_at  datetime,                               -- qgen:status ready=null running=now clock=utc
    finished_at datetime,                               -- qgen:status ready=null running=null done=now failed=null clock=utc
    failed_at   datetime,                               -- qgen:status ready=null running=null done=null failed=now clock=utc
    tries       int NOT NULL DEFAULT 0                  -- qgen:attempts up on=claim max=3
);
