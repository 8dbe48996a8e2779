-- A time long past stands for a row that nobody has.
-- qgen:queue mails done=delete
CREATE TABLE mails (
    id       bigserial PRIMARY KEY,
    taken_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00' -- qgen:status ready='1970-01-01 00:00:00+00' running=now
);

-- qgen:queue pages
CREATE TABLE pages (
    id    bigserial PRIMARY KEY,
    state bytea NOT NULL, -- qgen:status ready=new running='\x0a0b' done=done; qgen:payload
    day   date NOT NULL -- qgen:status ready='2000-01-01' running='2000-01-02' done='2000-01-03'
);

-- What only is written of a failed row tells none, and nothing makes it ready again.
-- qgen:queue ended done=keep
CREATE TABLE ended (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=C failed:=E
    until timestamptz,   -- qgen:lease length=5m
    tries int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    at    timestamptz    -- qgen:finished also_failed
);

-- A job without tries left is left ready, for people to look at.
-- qgen:queue kept
CREATE TABLE kept (
    id    bigserial PRIMARY KEY,
    state int NOT NULL, -- qgen:status ready=1 running=2 done=3 failed=4; on giveup set 1
    until timestamptz,  -- qgen:lease length=5m
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3
);
