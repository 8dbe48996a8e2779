-- Each instance has one range of a stored hash. Of a column that may hold anything the range is said; what is
-- outside or null goes to an instance as well.
-- qgen:queue files
CREATE TABLE files (
    id     INTEGER PRIMARY KEY,
    bucket INTEGER,                   -- qgen:shard range=0|1023
    done   INTEGER NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
