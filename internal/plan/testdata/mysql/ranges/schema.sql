-- Each instance has one range of a stored hash; one of 64 bits without a sign is reckoned as such.
-- qgen:queue files
CREATE TABLE files (
    id   bigint NOT NULL PRIMARY KEY,
    hash bigint unsigned NOT NULL,  -- qgen:shard range
    done tinyint NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
-- qgen:queue sums
CREATE TABLE sums (
    id   bigint NOT NULL PRIMARY KEY,
    crc  int unsigned,              -- qgen:shard range
    done tinyint NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
