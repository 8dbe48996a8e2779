-- How often a job is recovered has a limit of its own, apart from that of its failures.
-- qgen:queue uploads
CREATE TABLE uploads (
    id           bigint IDENTITY PRIMARY KEY,
    state        varchar(20) DEFAULT 'queued' NOT NULL, -- qgen:status ready=queued running=processing done=completed failed=failed
    held         uniqueidentifier, -- qgen:token
    seen         datetimeoffset, -- qgen:heartbeat timeout=25s
    num_failures int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    num_resets   int DEFAULT 0 NOT NULL, -- qgen:attempts on=recover max=2
    message      varchar(20) -- qgen:error; on giveup set 'reset too often'
);

-- Tries count from their beginning: a job fails when they are spent or its recoveries are.
-- qgen:queue builds
CREATE TABLE builds (
    id          bigint IDENTITY PRIMARY KEY,
    state       varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at    datetimeoffset, -- qgen:lease length=5m
    tries       int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=4
    resets      tinyint, -- qgen:attempts on=recover max=most_resets
    most_resets tinyint -- qgen:max_attempts null=2 unlimited=99
);

-- What is counted is how often a job may be recovered yet.
-- qgen:queue jobs failed=delete
CREATE TABLE jobs (
    id       bigint IDENTITY PRIMARY KEY,
    state    varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over
    until_at datetimeoffset, -- qgen:lease length=5m
    lives    tinyint NOT NULL -- qgen:attempts down on=recover max=2
);
