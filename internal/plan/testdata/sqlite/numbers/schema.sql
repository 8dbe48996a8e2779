-- Unix times with a fraction.
-- qgen:queue runs
CREATE TABLE runs (
    id        INTEGER PRIMARY KEY,
    state     TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    DECIMAL(17, 6), -- qgen:due as=epoch
    held_till DECIMAL(17, 6), -- qgen:lease length=2m as=epoch expired=recover
    made      DOUBLE NOT NULL, -- qgen:enqueued as=epoch
    ended     NUMERIC, -- qgen:finished as=epoch_ms
    body      TEXT -- qgen:payload
);

-- Decimal numbers that count and that order.
-- qgen:queue counted
CREATE TABLE counted (
    id        INTEGER PRIMARY KEY,
    state     TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    prio      NUMERIC(5, 1) DEFAULT 0 NOT NULL, -- qgen:priority desc
    share     NUMERIC, -- qgen:order 1 nulls=first
    tries     DECIMAL(20), -- qgen:attempts up on=retry null=0
    max_tries DECIMAL(20) -- qgen:max_attempts
);

-- A count that is null is 0, so that a claim that runs out is the one try of such a row.
-- qgen:queue once
CREATE TABLE once (
    id    INTEGER PRIMARY KEY,
    state TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    till  INTEGER, -- qgen:lease length=5m as=epoch expired=recover
    tries INTEGER -- qgen:attempts up on=retry max=1 null=0
);

-- qgen:queue told
CREATE TABLE told (
    id    INTEGER PRIMARY KEY,
    state TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    till  INTEGER, -- qgen:lease length=5m as=epoch expired=recover
    tries INTEGER, -- qgen:attempts up on=retry null=0
    most  INTEGER -- qgen:max_attempts
);
