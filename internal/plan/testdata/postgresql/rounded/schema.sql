-- The present that is written to a column which rounds it would lie ahead, and the job not be ready.
-- qgen:queue waits
CREATE TABLE waits (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due   timestamp(0) NOT NULL, -- qgen:due
    taken timestamp(0) -- qgen:claimed timeout=5m
);

-- qgen:queue seen done=delete failed=delete
CREATE TABLE seen (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    until timestamptz(0) NOT NULL, -- qgen:visible length=5m
    tries int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=3
);

-- qgen:queue held done=delete
CREATE TABLE held (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    till  timestamp(0) NOT NULL -- qgen:lease length=5m free=now
);

-- qgen:queue thousandths
CREATE TABLE thousandths (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due   timestamp(3) DEFAULT CURRENT_TIMESTAMP NOT NULL, -- qgen:due; order 1
    taken timestamptz(3) -- qgen:claimed timeout=5m
);
