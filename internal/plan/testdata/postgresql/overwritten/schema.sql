-- What one word says takes the place of what a role would write, and the comments follow it.
CREATE TABLE kept (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=new|partly running=busy done=sent failed=error
    tries int NOT NULL,         -- qgen:attempts on=retry max=4
    after timestamptz           -- qgen:due; on retry set old
);
CREATE TABLE steady (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=new running=busy done=sent failed=error
    tries int NOT NULL,         -- qgen:attempts on=retry max=4
    after timestamptz           -- qgen:due
);
CREATE TABLE ended (
    id    bigserial PRIMARY KEY,
    state int NOT NULL,         -- qgen:status ready=1 running=4 done=272; on retry set 304
    after timestamptz           -- qgen:due
);
CREATE TABLE judged (
    id    bigserial PRIMARY KEY,
    again int NOT NULL,         -- qgen:status ready=1 running=2 done=3; on retry set "CASE WHEN id > 9 THEN 1 ELSE 0 END"
    after timestamptz           -- qgen:due; on retry set "now() + interval '1 hour'"
);
CREATE TABLE rounds (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=idle running=busy
    every int NOT NULL,
    after timestamptz NOT NULL  -- qgen:due; on done set "after + interval '1 hour'"
);
CREATE TABLE countdown (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=new running=busy done=sent failed=error
    tries int NOT NULL,         -- qgen:attempts down limit=fail
    after timestamptz           -- qgen:due
);
-- What becomes of the count, and of a job that is tried again, is told as it is written.
CREATE TABLE counted (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL,      -- qgen:status ready=new running=busy done=sent failed=error; on retry set error
    tries   int NOT NULL,       -- qgen:attempts on=claim max=4; on release set old
    started timestamptz NOT NULL DEFAULT '1980-01-01' -- qgen:claimed timeout=5m; on retry,release,recover,redrive set old
);
CREATE TABLE added (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=new running=busy done=sent failed=error
    tries int NOT NULL          -- qgen:attempts on=retry max=4; on release set +1
);
CREATE TABLE fixed (
    id    bigserial PRIMARY KEY,
    state text NOT NULL,        -- qgen:status ready=new running=busy done=sent failed=error
    tries int NOT NULL          -- qgen:attempts on=claim max=4; on retry set 2; on release set "tries * 2"
);
