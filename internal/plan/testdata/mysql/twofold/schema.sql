-- qgen:queue scores
CREATE TABLE scores (
    queue_id   bigint NOT NULL AUTO_INCREMENT,
    start_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
    status     int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    PRIMARY KEY (queue_id, start_time)
);
