-- A limit of 0 is less than a count that a crash has raised, also where numbers have no signs.
-- qgen:queue delayed
CREATE TABLE delayed (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state        char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    locked_at    timestamptz, -- qgen:claimed timeout=5m
    attempts     smallint, -- qgen:attempts up on=retry
    max_attempts smallint -- qgen:max_attempts null=15 unlimited=0
);

-- Retries, of which -1 are without end.
-- qgen:queue sandbox
CREATE TABLE sandbox (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    started   timestamptz, -- qgen:claimed timeout=5m
    run_count int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim limit=claim
    max_retry int -- qgen:max_attempts retries unlimited=-1
);

-- A claim takes one of the tries that are left; at 0 a job is not claimed, and has failed.
-- qgen:queue items done=delete
CREATE TABLE items (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    available int DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=0
    expires   timestamptz, -- qgen:lease length=5m expired=claim
    due_at    timestamptz, -- qgen:due
    remaining int DEFAULT 5 NOT NULL, -- qgen:attempts down on=claim max=5
    mark      uuid -- qgen:token
);
