-- One of many tables of this shape, each with another prefix, here without one.
CREATE TABLE /*_*/bodies (
    job_n   INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    body    text NOT NULL,
    made_at timestamp,
    status  text NOT NULL,
    PRIMARY KEY (job_n, kind)
);

-- qgen:queue table='{{.Prefix}}jobs{{.Suffix}}'
CREATE TABLE /*_*/jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      INTEGER NOT NULL DEFAULT 0,           -- qgen:attempts up on=claim max=3
    lease_till INTEGER                               -- qgen:lease length=1h as=epoch_ms
);
