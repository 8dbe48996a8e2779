-- How a job ends, the caller says: Complete keeps its row, Discard deletes it.
-- qgen:queue jobs
CREATE TABLE jobs (
    ref      integer PRIMARY KEY AUTOINCREMENT,
    status   integer DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=3 done=2 failed=5
    job_data text NOT NULL,
    till     integer -- qgen:lease length=5m as=epoch
);
CREATE TABLE parts (
    job  bigint NOT NULL,
    body text
);

-- A job of a cycle ends where it is discarded.
-- qgen:queue rounds cycle=15m
CREATE TABLE rounds (
    id    integer PRIMARY KEY AUTOINCREMENT,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    due   integer NOT NULL -- qgen:due as=epoch
);
