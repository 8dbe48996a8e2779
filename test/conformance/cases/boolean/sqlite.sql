-- One flag: an item is there to be taken, or it is not.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id        INTEGER PRIMARY KEY,
    n         INTEGER NOT NULL,                      -- qgen:payload
    available BOOLEAN NOT NULL DEFAULT TRUE          -- qgen:status ready=true running=false
);
