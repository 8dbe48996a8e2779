-- Counters that a row can reach the end of.
-- qgen:queue
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    tries smallint NOT NULL DEFAULT 0, -- qgen:attempts up on=claim
    ver   smallint NOT NULL DEFAULT 0  -- qgen:version
);
-- Where failures are counted, claims do not count.
-- qgen:queue
CREATE TABLE mails (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    till  timestamptz,                 -- qgen:lease length=5m
    tries smallint NOT NULL DEFAULT 0  -- qgen:attempts up on=retry
);
-- qgen:queue
CREATE TABLE calls (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    till  timestamptz,                 -- qgen:lease length=5m
    tries smallint NOT NULL DEFAULT 0  -- qgen:attempts up on=retry; on recover set old
);
