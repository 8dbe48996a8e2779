-- What is narrower in the other table is noted; an error is cut at what that one takes.
-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigint PRIMARY KEY,
    status varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=run done=finished failed=failed
    since  timestamptz,     -- qgen:claimed timeout=5m
    n      bigint NOT NULL,
    rate   numeric(10,2),
    body   varchar(100),
    name   varchar(20),
    more   text,
    err    text             -- qgen:error
);
CREATE TABLE ended (
    id     bigint PRIMARY KEY,
    status varchar(8) NOT NULL,
    since  timestamptz NOT NULL,
    n      smallint NOT NULL,
    rate   numeric(8,2),
    body   varchar(50) NOT NULL,
    name   text,
    more   text,
    err    varchar(20)
);
-- The table for what is done numbers its rows by itself.
-- qgen:queue calls
CREATE TABLE calls (
    id     bigserial PRIMARY KEY,
    status varchar(8) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=run
);
CREATE TABLE called (
    id     bigserial PRIMARY KEY,
    status varchar(8)
);
