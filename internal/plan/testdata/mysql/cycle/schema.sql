-- Whoever has done a job says when it is due again.
-- qgen:queue asked cycle
CREATE TABLE asked (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at datetime(6) NOT NULL, -- qgen:due
    tries  int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder varchar(40), -- qgen:worker
    answer varchar(40) -- qgen:result
);

-- A job is due again after a time that its row has; with no next time it rests.
-- qgen:queue rests cycle
CREATE TABLE rests (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    run_at datetime(6), -- qgen:visible length=5m null=never
    ver    int NOT NULL -- qgen:version
);

-- A job is due again after a time that its row has.
-- qgen:queue every cycle=every unit=m
CREATE TABLE every (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    run_at datetime(6), -- qgen:due
    till   datetime(6), -- qgen:lease length=5m
    tries  int DEFAULT 3 NOT NULL, -- qgen:attempts down max=3
    every  int DEFAULT 60 NOT NULL,
    ran_at datetime(6) -- qgen:finished
);

-- The same, worked out by the database, and nothing that marks a job that runs.
-- qgen:queue reckoned cycle="{row}.wait_s * 2" unit=s
CREATE TABLE reckoned (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    run_at bigint NOT NULL, -- qgen:due as=epoch; order
    wait_s int DEFAULT 60 NOT NULL
);

-- The time that the row adds to the last one says it all.
-- qgen:queue added cycle
CREATE TABLE added (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    ran_at bigint, -- qgen:due add=wait_s unit=s as=epoch
    till   bigint, -- qgen:lease length=5m as=epoch
    wait_s int DEFAULT 60 NOT NULL
);

-- A time stands for never, since the column takes no null.
-- qgen:queue ends cycle
CREATE TABLE ends (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    run_at datetime NOT NULL -- qgen:due never='9999-12-31 00:00:00'
);
