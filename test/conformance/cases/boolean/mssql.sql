-- One flag: an item is there to be taken, or it is not.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id        int IDENTITY NOT NULL PRIMARY KEY,
    n         bigint NOT NULL,                          -- qgen:payload
    available bit NOT NULL DEFAULT 1                    -- qgen:status ready=true running=false
);
