-- A limit of 0 is less than a count that a crash has raised, also where numbers have no signs.
-- qgen:queue delayed_jobs
CREATE TABLE delayed_jobs (
    id           bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state        char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    locked_at    datetime(6), -- qgen:claimed timeout=5m
    attempts     int unsigned, -- qgen:attempts up on=retry
    max_attempts int unsigned -- qgen:max_attempts null=15 unlimited=0
);

-- Retries, of which -1 are without end.
-- qgen:queue sandbox
CREATE TABLE sandbox (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    started   datetime(6), -- qgen:claimed timeout=5m
    run_count bigint DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim limit=claim
    max_retry bigint -- qgen:max_attempts retries unlimited=-1
);
