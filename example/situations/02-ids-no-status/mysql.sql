-- Rows with an id and nothing that says how far they are.
-- qgen:queue
CREATE TABLE outbox (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    recipient varchar(200) NOT NULL,
    added     datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) -- qgen:enqueued clock=local
) ENGINE=InnoDB;
