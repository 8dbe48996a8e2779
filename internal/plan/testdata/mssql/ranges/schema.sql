-- Each instance has one range of a checksum.
-- qgen:queue files
CREATE TABLE dbo.files (
    id   bigint NOT NULL PRIMARY KEY,
    hash int NULL,               -- qgen:shard range
    done bit NOT NULL DEFAULT 0  -- qgen:status ready=0 done=1
);
