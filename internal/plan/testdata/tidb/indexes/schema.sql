-- Whether an index ends with the key depends on how the server keeps the table.
-- qgen:queue ended
CREATE TABLE ended (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    topic varchar(50) NOT NULL,             -- qgen:topic
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    KEY state_topic (state, topic)
);
