-- How often a job is recovered has a limit of its own, apart from that of its failures.
-- qgen:queue uploads
CREATE TABLE uploads (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state        varchar(20) DEFAULT 'queued' NOT NULL, -- qgen:status ready=queued running=processing done=completed failed=failed
    held         uuid, -- qgen:token
    seen         timestamptz, -- qgen:heartbeat timeout=25s
    num_failures int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    num_resets   int DEFAULT 0 NOT NULL, -- qgen:attempts on=recover max=2
    message      varchar(20) -- qgen:error; on giveup set 'reset too often'
);

-- Tries count from their beginning: a job fails when they are spent or its recoveries are.
-- qgen:queue builds
CREATE TABLE builds (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state       varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at    timestamptz, -- qgen:lease length=5m
    tries       int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=4
    resets      smallint, -- qgen:attempts on=recover max=most_resets
    most_resets smallint -- qgen:max_attempts null=2 unlimited=99
);

-- What is counted is how often a job may be recovered yet.
-- qgen:queue jobs failed=delete
CREATE TABLE jobs (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state    varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over
    until_at timestamptz, -- qgen:lease length=5m
    lives    smallint NOT NULL -- qgen:attempts down on=recover max=2
);

-- What SQL writes to the status decides, and is not known.
-- qgen:queue told
CREATE TABLE told (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state    varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead; on recover,giveup set "case when {row}.begun then 'dead' else 'new' end"
    begun    boolean DEFAULT false NOT NULL,
    until_at timestamptz, -- qgen:lease length=5m
    tries    int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=4
);
