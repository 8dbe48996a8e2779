-- Numbers for states, and urgent jobs first.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    state      tinyint NOT NULL DEFAULT 0,              -- qgen:status ready=0 running=1 done=2 failed=9
    priority   int NOT NULL DEFAULT 0,                  -- qgen:priority desc
    claimed_at datetime2,                               -- qgen:claimed timeout=1h clock=utc
    worker     nvarchar(64)                             -- qgen:worker
);
