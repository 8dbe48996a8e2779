-- A wait that grows with a count of the same row: in whatever order the two are said, the wait is of the count as it was.
-- qgen:queue
CREATE TABLE backlog (
    id        int AUTO_INCREMENT PRIMARY KEY,
    connector varchar(32) NOT NULL,
    size      int NOT NULL,
    state     varchar(8) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done failed=failed
) ENGINE=InnoDB;

CREATE TABLE backoff (
    connector varchar(32) NOT NULL PRIMARY KEY,
    attempts  int NOT NULL DEFAULT 0,
    last      int,
    state     varchar(8) NOT NULL DEFAULT 'open',
    next_try  datetime
) ENGINE=InnoDB;
