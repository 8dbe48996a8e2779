-- How often a job is recovered has a limit of its own, apart from that of its failures.
-- qgen:queue uploads
CREATE TABLE uploads (
    id           NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state        VARCHAR2(20) DEFAULT 'queued' NOT NULL, -- qgen:status ready=queued running=processing done=completed failed=failed
    held         RAW(16), -- qgen:token
    seen         TIMESTAMP WITH TIME ZONE, -- qgen:heartbeat timeout=25s
    num_failures NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    num_resets   NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts on=recover max=2
    message      VARCHAR2(20) -- qgen:error; on giveup set 'reset too often'
);

-- Tries count from their beginning: a job fails when they are spent or its recoveries are.
-- qgen:queue builds
CREATE TABLE builds (
    id          NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state       VARCHAR2(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at    TIMESTAMP WITH TIME ZONE, -- qgen:lease length=5m
    tries       NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=4
    resets      NUMBER(5), -- qgen:attempts on=recover max=most_resets
    most_resets NUMBER(5) -- qgen:max_attempts null=2 unlimited=99
);

-- What is counted is how often a job may be recovered yet.
-- qgen:queue jobs failed=delete
CREATE TABLE jobs (
    id       NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state    VARCHAR2(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over
    until_at TIMESTAMP WITH TIME ZONE, -- qgen:lease length=5m
    lives    NUMBER(5) NOT NULL -- qgen:attempts down on=recover max=2
);
