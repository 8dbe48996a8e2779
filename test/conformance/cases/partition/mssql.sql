-- Instances share the table by a hash; files without one belong to the first.
-- qgen:queue
CREATE TABLE jobs (
    id        bigint IDENTITY NOT NULL PRIMARY KEY,
    n         bigint NOT NULL,                          -- qgen:payload
    hash_code int,                                      -- qgen:shard mod
    processed bit NOT NULL DEFAULT 0                    -- qgen:status ready=false done=true
);
