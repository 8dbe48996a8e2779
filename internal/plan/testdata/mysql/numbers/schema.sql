-- Unix times with a fraction.
-- qgen:queue runs
CREATE TABLE runs (
    id        bigint PRIMARY KEY AUTO_INCREMENT,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    decimal(17, 6), -- qgen:due as=epoch
    held_till decimal(17, 6), -- qgen:lease length=2m as=epoch expired=recover
    made      double NOT NULL, -- qgen:enqueued as=epoch
    ended     decimal(20, 3), -- qgen:finished as=epoch_ms
    body      varchar(200) -- qgen:payload
);

-- Decimal numbers that count and that order.
-- qgen:queue counted
CREATE TABLE counted (
    id        bigint PRIMARY KEY AUTO_INCREMENT,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    prio      decimal(5, 1) DEFAULT 0 NOT NULL, -- qgen:priority desc
    share     decimal(20, 5), -- qgen:order 1 nulls=first
    tries     decimal(20), -- qgen:attempts up on=retry null=0
    max_tries decimal(20) -- qgen:max_attempts
);

-- What tinyint(1) holds is told by what is said of it: numbers, or truth.
-- qgen:queue small
CREATE TABLE small (
    id       bigint PRIMARY KEY AUTO_INCREMENT,
    state    tinyint(1) NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=-1
    tries    tinyint(1) NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
    priority tinyint(1) NOT NULL DEFAULT 0, -- qgen:priority desc
    kind     tinyint(1) NOT NULL,           -- qgen:topic
    urgent   boolean NOT NULL DEFAULT 0,
    silent   tinyint(1) NOT NULL DEFAULT 0,
    speed    tinyint(1) NOT NULL DEFAULT 0,
    level    tinyint(1) NOT NULL DEFAULT 3
);
CREATE TABLE small_ends (
    small_id bigint PRIMARY KEY,
    how      tinyint(1) NOT NULL
);
