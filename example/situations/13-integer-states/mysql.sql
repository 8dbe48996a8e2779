-- The state is a number: 0 new, 1 taken, 2 done, 3 failed.
-- qgen:queue
CREATE TABLE work (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    data       varchar(200) NOT NULL,         -- qgen:payload
    state      tinyint NOT NULL DEFAULT 0,    -- qgen:status ready=0 running=1 done=2 failed=3
    tries      int NOT NULL DEFAULT 0,        -- qgen:attempts up on=claim max=2
    taken_till datetime(6) NULL,              -- qgen:lease length=1m clock=utc
    KEY (state, id)
) ENGINE=InnoDB;
