-- Each instance has one range of what ORA_HASH gave; a NUMBER does not say how far that goes.
-- qgen:queue files
CREATE TABLE files (
    id   NUMBER(19) PRIMARY KEY,
    hash NUMBER(10),                     -- qgen:shard range=0|4294967295
    done NUMBER(1) DEFAULT 0 NOT NULL    -- qgen:status ready=0 done=1
);
