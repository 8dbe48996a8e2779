-- A limit of 0 is less than a count that a crash has raised, also where numbers have no signs.
-- qgen:queue delayed
CREATE TABLE delayed (
    id           bigint IDENTITY PRIMARY KEY,
    state        char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    locked_at    datetimeoffset, -- qgen:claimed timeout=5m
    attempts     tinyint, -- qgen:attempts up on=retry
    max_attempts tinyint -- qgen:max_attempts null=15 unlimited=0
);

-- Retries, of which -1 are without end.
-- qgen:queue sandbox
CREATE TABLE sandbox (
    id        bigint IDENTITY PRIMARY KEY,
    status    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    started   datetimeoffset, -- qgen:claimed timeout=5m
    run_count int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim limit=claim
    max_retry int -- qgen:max_attempts retries unlimited=-1
);
