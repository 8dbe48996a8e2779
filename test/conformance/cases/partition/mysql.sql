-- Instances share the table by a hash; files without one belong to the first.
-- qgen:queue
CREATE TABLE jobs (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n         bigint NOT NULL,                          -- qgen:payload
    hash_code int,                                      -- qgen:shard mod
    processed boolean NOT NULL DEFAULT false            -- qgen:status ready=false done=true
) ENGINE=InnoDB;
