CREATE TABLE jobs (
    id       bigint PRIMARY KEY,
    state    int NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    "a b"    text,
    a_b      text,
    "***"    text
);
CREATE TABLE tasks (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
CREATE TABLE plain (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
CREATE TABLE notes (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    notes jsonb -- qgen:error append
);
-- qgen:where "state = = 1"
CREATE TABLE exprs (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    label text -- qgen:on done set "label ||"
);
CREATE TABLE secrets (
    id     bigint PRIMARY KEY,
    state  int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    secret text NOT NULL -- qgen:ignore
);
CREATE VIEW open_tasks AS SELECT id, state FROM tasks;
CREATE TABLE heap (
    line  text NOT NULL,
    host  int,
    tries int NOT NULL DEFAULT 0,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1 failed=2
);
CREATE TABLE split (
    line  text NOT NULL,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1 failed=2
) PARTITION BY LIST (state);

-- Nothing tells which rows may still appear below others.
CREATE TABLE given (
    id   bigint PRIMARY KEY, -- qgen:seq
    body text
);
CREATE TABLE lines (line text);

CREATE TABLE asks (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    code  int -- qgen:on fail,release set arg:code
);
CREATE TABLE answers (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1 failed=2
    code  int -- qgen:on fail set arg:code
);
-- qgen:queue cycled cycle=1h
CREATE TABLE cycled (
    id     bigserial PRIMARY KEY,
    run_at timestamptz NOT NULL -- qgen:due
);
CREATE TABLE tries (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    n     int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3
);
-- qgen:where "due > {arg:since time.Time} AND made > {arg:since}"
CREATE TABLE sends (
    id   bigint PRIMARY KEY,
    due  timestamp NOT NULL, -- qgen:due
    made bigint NOT NULL -- qgen:enqueued as=epoch
);
CREATE TABLE untyped ( -- qgen:queue
    id    bigserial PRIMARY KEY,
    state json NOT NULL, -- qgen:status ready=1 running=2 done=3
    place point,         -- qgen:order
    kind  json           -- qgen:topic
);
