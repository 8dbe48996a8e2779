-- Instances share the table by a hash code. Nothing marks a file while one works.
-- qgen:queue
CREATE TABLE files (
    id        bigserial PRIMARY KEY,
    path      text NOT NULL,                   -- qgen:payload
    hash_code int,                             -- qgen:shard mod
    processed boolean NOT NULL DEFAULT false   -- qgen:status ready=false done=true
);
