-- A partitioned table: row identity is worth nothing here, the key is.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint PRIMARY KEY,
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      int NOT NULL DEFAULT 0,               -- qgen:attempts up on=claim max=3
    lease_till timestamptz                           -- qgen:lease length=1h
) PARTITION BY RANGE (id);
CREATE TABLE jobs_low PARTITION OF jobs FOR VALUES FROM (MINVALUE) TO (101);
CREATE TABLE jobs_high PARTITION OF jobs FOR VALUES FROM (101) TO (MAXVALUE);
