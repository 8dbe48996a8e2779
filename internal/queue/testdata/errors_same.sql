-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigint PRIMARY KEY,
    status text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=run done=finished failed=failed
    holder text, -- qgen:worker free=null; on done set null
    n      bigint NOT NULL,
    body   text,
    err    text -- qgen:error
);
CREATE TABLE ended (
    id     bigint PRIMARY KEY,
    status varchar(3) NOT NULL,
    holder text NOT NULL,
    n      boolean,
    body   bytea,
    err    varchar(20)
);
CREATE TABLE running (
    id     bigint PRIMARY KEY,
    n      bigint NOT NULL,
    body   varchar(20) NOT NULL,
    holder text NOT NULL,
    since  timestamptz NOT NULL -- qgen:claimed timeout=5m
);
CREATE TABLE waiting ( -- qgen:queue waiting done=delete
    id     bigint PRIMARY KEY,
    n      bigint,
    body   text NOT NULL,
    holder varchar(10)
);
