-- Unix time as text, with zeros in front; how many digits one column has stands in qgen.yaml.
-- qgen:queue runs
CREATE TABLE runs (
    id        integer PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    run_text  varchar(20) NOT NULL, -- qgen:due
    held_till varchar(20), -- qgen:lease length=5m as=text:epoch_us expired=recover
    made      char(10) NOT NULL, -- qgen:enqueued as=text:epoch
    ended     varchar(14), -- qgen:finished as=text:epoch_ms
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    body      varchar(200) -- qgen:payload
);

-- How long a job waits and how long a claim is good is told by its row.
-- qgen:queue waits done=delete
CREATE TABLE waits (
    id      integer PRIMARY KEY,
    last_at char(11), -- qgen:due add=wait_s unit=s as=text:epoch
    since   varchar(14), -- qgen:claimed timeout=wait_s unit=s as=text:epoch_ms
    wait_s  int DEFAULT 60 NOT NULL
);

-- Nanoseconds, which no server's clock tells: they are made of what it does tell.
-- qgen:queue ticks
CREATE TABLE ticks (
    id        integer PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    bigint NOT NULL, -- qgen:due as=epoch_ns
    since     bigint, -- qgen:claimed timeout=wait_s unit=s as=epoch_ns expired=recover
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    ended     varchar(19), -- qgen:finished as=text:epoch_ns
    wait_s    int DEFAULT 60 NOT NULL
);

-- A claim moves the time to which the row's own wait is added.
-- qgen:queue polls done=delete
CREATE TABLE polls (
    id       integer PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    asked_at bigint, -- qgen:due add=wait_s unit=s as=epoch; on claim set now
    wait_s   int DEFAULT 60 NOT NULL
);

-- An empty text is no time.
-- qgen:queue checks
CREATE TABLE checks (
    id    integer PRIMARY KEY,
    ended char(10) DEFAULT '' NOT NULL, -- qgen:status ready='' done=now; finished as=text:epoch
    since char(10) DEFAULT '' NOT NULL, -- qgen:claimed timeout=900s as=text:epoch expired=claim
    again varchar(20) DEFAULT '' NOT NULL -- qgen:due as='text:2006-01-02 15:04:05' clock=utc
);
