-- A date that no calendar has stands for none, as in old schemas.
CREATE TABLE workerqueue ( -- qgen:queue done=delete
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    pid      int NOT NULL DEFAULT 0, -- qgen:worker free=0
    executed datetime NOT NULL DEFAULT '0000-00-00 00:00:00' -- qgen:claimed free='0000-00-00 00:00:00' timeout=5m clock=utc
);
