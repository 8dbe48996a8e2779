-- A count of few bits that a limit keeps small is known before the claim writes it; one without a limit may be cut on a
-- server that is not strict, and is read back.
-- qgen:queue calls
CREATE TABLE calls (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(8) DEFAULT 'new' NOT NULL,  -- qgen:status ready=new running=busy done=done failed=failed
    tries tinyint unsigned DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=8
);

-- qgen:queue endless
CREATE TABLE endless (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(8) DEFAULT 'new' NOT NULL,  -- qgen:status ready=new running=busy done=done failed=failed
    tries tinyint unsigned DEFAULT 0 NOT NULL -- qgen:attempts up on=claim
);
