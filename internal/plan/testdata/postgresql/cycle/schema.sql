-- Whoever has done a job says when it is due again.
-- qgen:queue asked cycle
CREATE TABLE asked (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at timestamptz NOT NULL, -- qgen:due
    tries  integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder text, -- qgen:worker
    answer text -- qgen:result
);

-- A job is due again after a time that its row has; with no next time it rests.
-- qgen:queue rests cycle
CREATE TABLE rests (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_at timestamptz, -- qgen:visible length=5m null=never
    ver    integer NOT NULL -- qgen:version
);

-- A job is due again after a time that its row has.
-- qgen:queue every cycle=every unit=m
CREATE TABLE every (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    run_at timestamptz, -- qgen:due
    till   timestamptz, -- qgen:lease length=5m
    tries  integer DEFAULT 3 NOT NULL, -- qgen:attempts down max=3
    every  integer DEFAULT 60 NOT NULL,
    ran_at timestamptz -- qgen:finished
);

-- The same, worked out by the database, and nothing that marks a job that runs.
-- qgen:queue reckoned cycle="{row}.wait_s * 2" unit=s
CREATE TABLE reckoned (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_at bigint NOT NULL, -- qgen:due as=epoch; order
    wait_s integer DEFAULT 60 NOT NULL
);

-- The time that the row adds to the last one says it all.
-- qgen:queue added cycle
CREATE TABLE added (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ran_at bigint, -- qgen:due add=wait_s unit=s as=epoch
    till   bigint, -- qgen:lease length=5m as=epoch
    wait_s integer DEFAULT 60 NOT NULL
);

-- A time stands for never, since the column takes no null.
-- qgen:queue ends cycle
CREATE TABLE ends (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at timestamptz NOT NULL -- qgen:due never='9999-12-31 00:00:00+00'
);
