-- Instances share the table by a hash code. Nothing marks a file while one works.
-- qgen:queue
CREATE TABLE files (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    path      varchar(400) NOT NULL,           -- qgen:payload
    hash_code int,                             -- qgen:shard mod
    processed boolean NOT NULL DEFAULT false   -- qgen:status ready=false done=true
) ENGINE=InnoDB;
