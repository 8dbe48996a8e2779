-- Unix times with a fraction.
-- qgen:queue runs
CREATE TABLE runs (
    id        bigserial PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    numeric(17, 6), -- qgen:due as=epoch
    held_till numeric(17, 6), -- qgen:lease length=2m as=epoch expired=recover
    made      double precision NOT NULL, -- qgen:enqueued as=epoch
    ended     numeric, -- qgen:finished as=epoch_ms
    body      varchar(200) -- qgen:payload
);

-- Decimal numbers that count and that order.
-- qgen:queue counted
CREATE TABLE counted (
    id        bigserial PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    prio      numeric(5, 1) DEFAULT 0 NOT NULL, -- qgen:priority desc
    share     numeric, -- qgen:order 1 nulls=last
    tries     numeric(20), -- qgen:attempts up on=retry null=0
    max_tries numeric(20) -- qgen:max_attempts
);

-- A count that is null is 0, so that a claim that runs out is the one try of such a row.
-- qgen:queue once
CREATE TABLE once (
    id    bigserial PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    till  bigint, -- qgen:lease length=5m as=epoch expired=recover
    tries int -- qgen:attempts up on=retry max=1 null=0
);

-- qgen:queue told
CREATE TABLE told (
    id    bigserial PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    till  bigint, -- qgen:lease length=5m as=epoch expired=recover
    tries int, -- qgen:attempts up on=retry null=0
    most  int -- qgen:max_attempts
);
