-- How often a job is recovered has a limit of its own, apart from that of its failures.
-- qgen:queue uploads
CREATE TABLE uploads (
    id           INTEGER PRIMARY KEY,
    state        TEXT DEFAULT 'queued' NOT NULL, -- qgen:status ready=queued running=processing done=completed failed=failed
    held         TEXT, -- qgen:token
    seen         INTEGER, -- qgen:heartbeat timeout=25s as=epoch
    num_failures INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    num_resets   INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts on=recover max=2
    message      TEXT -- qgen:error; on giveup set 'reset too often'
);

-- Tries count from their beginning: a job fails when they are spent or its recoveries are.
-- qgen:queue builds
CREATE TABLE builds (
    id          INTEGER PRIMARY KEY,
    state       TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at    INTEGER, -- qgen:lease length=5m as=epoch
    tries       INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=4
    resets      INTEGER, -- qgen:attempts on=recover max=most_resets
    most_resets INTEGER -- qgen:max_attempts null=2 unlimited=99
);

-- What is counted is how often a job may be recovered yet.
-- qgen:queue jobs failed=delete
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    state    TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over
    until_at INTEGER, -- qgen:lease length=5m as=epoch
    lives    INTEGER NOT NULL -- qgen:attempts down on=recover max=2
);
