-- A shard narrows a queue that marks what runs.
-- qgen:queue
CREATE TABLE jobs (
    id        bigint IDENTITY NOT NULL PRIMARY KEY,
    n         bigint NOT NULL,                          -- qgen:payload
    hash_code int,                                      -- qgen:shard mod
    status    varchar(16) NOT NULL DEFAULT 'ready',     -- qgen:status ready=ready running=running done=done failed=failed
    tries     int NOT NULL DEFAULT 0                    -- qgen:attempts up on=claim max=3
);
