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

-- A claim takes one of the tries that are left; at 0 a job is not claimed, and has failed.
-- qgen:queue items done=delete
CREATE TABLE items (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    available NUMBER(9) DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=0
    expires   TIMESTAMP WITH TIME ZONE, -- qgen:lease length=5m expired=claim
    due_at    TIMESTAMP WITH TIME ZONE, -- qgen:due
    remaining NUMBER(9) DEFAULT 5 NOT NULL, -- qgen:attempts down on=claim max=5
    mark      RAW(16) -- qgen:token
);
