-- What a mapping gives to narrower columns of another table is noted as of the same columns.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    since timestamptz,            -- qgen:claimed timeout=5m
    n     bigint NOT NULL,
    k     text
);
CREATE TABLE arch (id int PRIMARY KEY, k varchar(255) NOT NULL, since timestamptz NOT NULL);
CREATE TABLE log (id bigint PRIMARY KEY, line varchar(10) NOT NULL);
