-- Callers say how a column begins. Whether an index leads to that is up to its collation.
CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

CREATE TABLE tasks (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz, -- qgen:claimed timeout=5m
    kind     text NOT NULL -- qgen:topic prefix
);

CREATE TABLE plain (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz, -- qgen:claimed timeout=5m
    kind     varchar(80) COLLATE "C" NOT NULL -- qgen:topic prefix
);
CREATE INDEX plain_kind ON plain (kind, id) WHERE state = 'new';

-- ^@ fails on these.
CREATE TABLE folded (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz, -- qgen:claimed timeout=5m
    kind     text COLLATE alike NOT NULL -- qgen:topic prefix
);
CREATE DOMAIN title AS text COLLATE alike;
CREATE TABLE named (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz, -- qgen:claimed timeout=5m
    kind     title NOT NULL -- qgen:topic prefix
);
