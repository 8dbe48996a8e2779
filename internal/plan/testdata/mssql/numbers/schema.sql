-- Unix times with a fraction.
-- qgen:queue runs
CREATE TABLE runs (
    id        bigint IDENTITY PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    decimal(17, 6), -- qgen:due as=epoch
    held_till decimal(17, 6), -- qgen:lease length=2m as=epoch expired=recover
    made      float NOT NULL, -- qgen:enqueued as=epoch
    ended     decimal(20, 3), -- qgen:finished as=epoch_ms
    body      varchar(200) -- qgen:payload
);

-- Decimal numbers that count and that order.
-- qgen:queue counted
CREATE TABLE counted (
    id        bigint IDENTITY PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    prio      decimal(5, 1) DEFAULT 0 NOT NULL, -- qgen:priority desc
    share     decimal(20, 5), -- qgen:order 1 nulls=first
    tries     decimal(20), -- qgen:attempts up on=retry null=0
    max_tries decimal(20) -- qgen:max_attempts
);
