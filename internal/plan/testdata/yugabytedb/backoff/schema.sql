-- The wait after a failure is told by the row: it doubles up to the row's own limit where the
-- row says so.
-- qgen:queue told
CREATE TABLE told (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    run_at    timestamptz, -- qgen:due
    tries     integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    wait_s    integer DEFAULT 5 NOT NULL,
    longest_s integer
);

-- Times that are counted from 1970, tries that count down, and a wait in minutes.
-- qgen:queue counted
CREATE TABLE counted (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries     integer DEFAULT 3 NOT NULL, -- qgen:attempts down max=3
    run_at    bigint NOT NULL, -- qgen:due as=epoch
    wait_m    integer DEFAULT 1 NOT NULL
);

-- Times that are texts, and a due time that is the lease as well.
-- qgen:queue texts
CREATE TABLE texts (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_at    text NOT NULL, -- qgen:visible length=5m as=text:2006-01-02T15:04:05.000Z
    tries     integer DEFAULT 0 NOT NULL -- qgen:attempts up on=claim
);
