-- Several values mean ready, and finished rows stay: rows of each value are found in queue
-- order without locks, and then locked by their keys.

-- qgen:queue transfers
CREATE TABLE transfers (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    state   varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new|again running=active done=done failed=failed
    due     datetime(6) NULL,                   -- qgen:due clock=utc
    urgency int NOT NULL DEFAULT 0,             -- qgen:priority desc
    payload text NOT NULL,
    KEY transfers_ready (state, urgency DESC, id)
);

-- A token, which lock_update writes as well. Null is one of two values of another column.
-- qgen:queue parcels
CREATE TABLE parcels (
    site   int NOT NULL,
    number int NOT NULL,
    state  int NOT NULL,             -- qgen:status ready=0|1 running=2 done=3
    held   int NULL,                 -- qgen:status ready=null|0
    mark   char(32) NULL,            -- qgen:token
    PRIMARY KEY (site, number)
);

-- Finished rows are told from ready ones by a column that has one value there.
-- qgen:queue lamps
CREATE TABLE lamps (
    id    int AUTO_INCREMENT PRIMARY KEY,
    state varchar(10) NOT NULL, -- qgen:status ready=red|amber running=green done=green
    lit   int NOT NULL          -- qgen:status ready=0 running=0 done=1
);

-- Finished rows go, so an index in queue order has few rows that are passed over.
-- qgen:queue visits done=delete
CREATE TABLE visits (
    id    int AUTO_INCREMENT PRIMARY KEY,
    state varchar(10) NOT NULL -- qgen:status ready=new|again running=active
);

-- Rows are held by their locks, and no others may be locked.
-- qgen:queue posts strategy=hold
CREATE TABLE posts (
    id    int AUTO_INCREMENT PRIMARY KEY,
    state varchar(10) NOT NULL -- qgen:status ready=new|again done=sent
);

-- A claim deletes rows, in an order that no index gives.
-- qgen:queue draws strategy=pop
-- qgen:order random
CREATE TABLE draws (
    id      int AUTO_INCREMENT PRIMARY KEY,
    topic   varchar(10) NOT NULL, -- qgen:topic
    payload text NOT NULL
);
