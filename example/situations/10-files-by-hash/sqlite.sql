-- Instances share the table by a hash code. Nothing marks a file while one works.
-- qgen:queue
CREATE TABLE files (
    id        INTEGER PRIMARY KEY,
    path      TEXT NOT NULL,                   -- qgen:payload
    hash_code INTEGER,                             -- qgen:shard mod
    processed BOOLEAN NOT NULL DEFAULT false   -- qgen:status ready=false done=true
);
