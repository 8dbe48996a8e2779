-- What tells a failed row stands at another column than what tells a running one: Fail leaves it running.
-- qgen:queue done=delete
CREATE TABLE imports (
    id      bigserial PRIMARY KEY,
    busy    int NOT NULL DEFAULT 0, -- qgen:status ready~"busy <= 0" ready:=0 running=1
    result  text                    -- qgen:error; status ready~"result is null or result = 'OK'" ready:=old failed~"result <> 'OK'"; on redrive set null
);
-- With a value for it the states are told apart.
-- qgen:queue done=delete
CREATE TABLE exports (
    id      bigserial PRIMARY KEY,
    busy    int NOT NULL DEFAULT 0, -- qgen:status ready~"busy <= 0" ready:=0 running=1 failed:=0
    result  text                    -- qgen:error; status ready~"result is null or result = 'OK'" ready:=old failed~"result <> 'OK'"; on redrive set null
);
-- So it is of a job that is done, by SQL.
-- qgen:queue
CREATE TABLE renders (
    id      bigserial PRIMARY KEY,
    node    text,                      -- qgen:status ready=null running~"node is not null" running:=me
    percent int NOT NULL DEFAULT 0     -- qgen:status ready=0 done~"percent >= 100" done:=100
);
-- Who says that a column stays knows it.
-- qgen:queue done=delete
CREATE TABLE kept (
    id      bigserial PRIMARY KEY,
    busy    int NOT NULL DEFAULT 0, -- qgen:status ready~"busy <= 0" ready:=0 running=1; on fail set old
    result  text                    -- qgen:error; status ready~"result is null" ready:=null failed~"result <> 'OK'"
);
