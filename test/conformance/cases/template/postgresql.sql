-- One of many tables of this shape, each with another prefix, here without one.
CREATE TABLE /*_*/bodies (
    job_n   bigint NOT NULL,
    kind    int NOT NULL,
    body    text NOT NULL,
    made_at timestamptz,
    status  text NOT NULL,
    PRIMARY KEY (job_n, kind)
);

-- qgen:queue table='{{.Prefix}}jobs{{.Suffix}}'
CREATE TABLE /*_*/jobs (
    id         bigserial PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      int NOT NULL DEFAULT 0,               -- qgen:attempts up on=claim max=3
    lease_till timestamptz                           -- qgen:lease length=1h
);
