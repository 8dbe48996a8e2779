-- MySQL 5: a worker writes its CONNECTION_ID() into the rows that it takes.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    data  varchar(200) NOT NULL,  -- qgen:payload
    owner bigint NULL,            -- qgen:token
    KEY (owner)
) ENGINE=InnoDB;
