-- A row is there until its job is done; then it is deleted.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    data varchar(200) NOT NULL
) ENGINE=InnoDB;
