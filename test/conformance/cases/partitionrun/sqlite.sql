-- A shard narrows a queue that marks what runs.
-- qgen:queue
CREATE TABLE jobs (
    id        INTEGER PRIMARY KEY,
    n         INTEGER NOT NULL,                      -- qgen:payload
    hash_code INTEGER,                               -- qgen:shard mod
    status    TEXT NOT NULL DEFAULT 'ready',         -- qgen:status ready=ready running=running done=done failed=failed
    tries     INTEGER NOT NULL DEFAULT 0             -- qgen:attempts up on=claim max=3
);
