-- qgen:queue jobs
CREATE TABLE jobs (
    id     INTEGER PRIMARY KEY,
    status INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    till   INTEGER, -- qgen:lease length=5m as=epoch
    body   TEXT NOT NULL
);
