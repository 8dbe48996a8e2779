-- The present that is written to a column which rounds it would lie ahead, and the job not be ready.
-- qgen:queue waits
CREATE TABLE waits (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due   datetime NOT NULL, -- qgen:due
    taken datetime -- qgen:claimed timeout=5m
);

-- qgen:queue seen done=delete failed=delete
CREATE TABLE seen (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    until timestamp(0) NOT NULL, -- qgen:visible length=5m
    tries int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=3
);

-- qgen:queue held done=delete
CREATE TABLE held (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    till  datetime NOT NULL -- qgen:lease length=5m free=now
);

-- qgen:queue marked
CREATE TABLE marked (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due    datetime(3) NOT NULL, -- qgen:due; on done,retry set old; on release set now
    beat   datetime NOT NULL, -- qgen:heartbeat timeout=5m; on retry,release set now
    tried  datetime, -- qgen:on retry set "{now}"
    ended  timestamp NULL -- qgen:finished also_failed
);
