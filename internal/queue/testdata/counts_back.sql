-- After which steps the fence repeats depends on what takes the count back.
-- qgen:queue kept
CREATE TABLE kept (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    tries int NOT NULL DEFAULT 0       -- qgen:attempts up on=claim; on release,retry set old
);
-- qgen:queue redriven
CREATE TABLE redriven (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2 failed=3
    tries int NOT NULL DEFAULT 0       -- qgen:attempts up on=claim max=3; on release set old
);
-- qgen:queue again
CREATE TABLE again (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    tries int NOT NULL DEFAULT 0       -- qgen:attempts up on=claim; on release set old
);
