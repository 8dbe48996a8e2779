-- qgen:queue
CREATE TABLE jobs (
    id       int PRIMARY KEY,
    st       int NOT NULL,  -- qgen:status ready=0 running=1 done=2 failed=3
    until_at char(16)       -- qgen:lease length=20s as=text:'2006-01-02 15:04' clock=utc
);
-- qgen:queue done=delete
CREATE TABLE seconds (
    id       int PRIMARY KEY,
    till     bigint         -- qgen:lease length=1s as=epoch
);
-- qgen:queue done=delete
CREATE TABLE calls (
    id       int PRIMARY KEY,
    at       timestamptz,   -- qgen:claimed timeout=1s
    seen     timestamptz(0) -- qgen:heartbeat
);
-- qgen:queue done=delete
CREATE TABLE hours (
    id       int PRIMARY KEY,
    at       char(13)       -- qgen:claimed as=text:'2006-01-02 15' clock=utc timeout=30m
);
-- qgen:queue done=delete
CREATE TABLE millis (
    id       int PRIMARY KEY,
    at       bigint         -- qgen:claimed as=epoch_ms timeout=1ms
);
-- qgen:queue done=delete
CREATE TABLE fine (
    id       int PRIMARY KEY,
    at       bigint         -- qgen:claimed as=epoch_us timeout=1ms
);
