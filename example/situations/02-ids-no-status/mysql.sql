-- Rows with an id and nothing that says how far they are.
-- qgen:queue done=delete failed=keep
CREATE TABLE outbox (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    recipient varchar(200) NOT NULL
) ENGINE=InnoDB;
