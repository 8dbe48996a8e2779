-- One flag: an item is there to be taken, or it is not.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id        int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n         bigint NOT NULL,                          -- qgen:payload
    available boolean NOT NULL DEFAULT true             -- qgen:status ready=true running=false
) ENGINE=InnoDB;
