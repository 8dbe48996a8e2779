-- The present that is written to a column which rounds it would lie ahead, and the job not be ready.
-- qgen:queue waits
CREATE TABLE waits (
    id    bigint IDENTITY PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due   smalldatetime NOT NULL, -- qgen:due
    taken smalldatetime -- qgen:claimed timeout=5m
);

-- qgen:queue seen done=delete failed=delete
CREATE TABLE seen (
    id    bigint IDENTITY PRIMARY KEY,
    until datetime2(0) NOT NULL, -- qgen:visible length=5m
    tries int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=3
);

-- qgen:queue held done=delete
CREATE TABLE held (
    id    bigint IDENTITY PRIMARY KEY,
    till  smalldatetime NOT NULL -- qgen:lease length=5m free=now
);
