CREATE TABLE files (
    id        bigint PRIMARY KEY,
    processed boolean NOT NULL DEFAULT false, -- qgen:status ready=false done=true
    hash_code int,                            -- qgen:shard mod
    path      text NOT NULL
);
CREATE INDEX files_open ON files (id) WHERE NOT processed;
