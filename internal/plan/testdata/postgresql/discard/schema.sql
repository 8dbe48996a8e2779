-- How a job ends, the caller says: Complete keeps its row, Discard deletes it.
-- qgen:queue jobs
CREATE TABLE jobs (
    ref      bigserial PRIMARY KEY,
    status   int DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=3 done=2 failed=5
    job_data text NOT NULL,
    till     timestamptz -- qgen:lease length=5m
);
CREATE TABLE parts (
    job  bigint NOT NULL,
    body text
);

-- A job of a cycle ends where it is discarded.
-- qgen:queue rounds cycle=15m
CREATE TABLE rounds (
    id    bigserial PRIMARY KEY,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    due   timestamptz NOT NULL -- qgen:due
);

-- Nothing is written while a job runs: Discard is a method of Tx.
-- qgen:queue held
CREATE TABLE held (
    id    bigserial PRIMARY KEY,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N done=D
    body  text NOT NULL
);

-- Every worker has its share.
-- qgen:queue shared strategy=partition
CREATE TABLE shared (
    id    bigserial PRIMARY KEY, -- qgen:shard mod
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N done=D
    body  text NOT NULL
);

-- One job of a case runs at a time.
-- qgen:queue cases
CREATE TABLE cases (
    id    bigserial PRIMARY KEY,
    about int NOT NULL, -- qgen:group limit=1
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    till  timestamptz -- qgen:lease length=5m
);
