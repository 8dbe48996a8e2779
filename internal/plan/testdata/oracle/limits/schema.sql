-- A limit of 0 is less than a count that a crash has raised, also where numbers have no signs.
-- qgen:queue delayed
CREATE TABLE delayed (
    id           NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state        CHAR(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    locked_at    TIMESTAMP WITH TIME ZONE, -- qgen:claimed timeout=5m
    attempts     NUMBER(5), -- qgen:attempts up on=retry
    max_attempts NUMBER(5) -- qgen:max_attempts null=15 unlimited=0
);

-- Retries, of which -1 are without end.
-- qgen:queue sandbox
CREATE TABLE sandbox (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status    CHAR(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    started   TIMESTAMP WITH TIME ZONE, -- qgen:claimed timeout=5m
    run_count NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim limit=claim
    max_retry NUMBER(9) -- qgen:max_attempts retries unlimited=-1
);
