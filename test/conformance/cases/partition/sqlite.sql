-- Instances share the table by a hash; files without one belong to the first.
-- qgen:queue
CREATE TABLE jobs (
    id        INTEGER PRIMARY KEY,
    n         INTEGER NOT NULL,                      -- qgen:payload
    hash_code INTEGER,                               -- qgen:shard mod
    processed BOOLEAN NOT NULL DEFAULT FALSE         -- qgen:status ready=false done=true
);
