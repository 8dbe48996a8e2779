-- Jobs of which other tables keep who ran them and what they were answered.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    state      int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    lease_till datetimeoffset, -- qgen:lease length=5m expired=recover
    tries      int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    code       int, -- qgen:on done,fail set arg:code
    body       nvarchar(max)
);

CREATE TABLE runs (
    job_id bigint NOT NULL,
    host   varchar(40) NOT NULL,
    node   varchar(20),
    why    varchar(20)
);

CREATE TABLE answers (
    id          bigint NOT NULL PRIMARY KEY,
    code        varchar(20) NOT NULL,
    body        varbinary(max),
    weight      decimal(9,2),
    answered_at datetimeoffset
);

-- What the caller says is a part of what other tables get.
CREATE TABLE calls (
    id    bigint NOT NULL PRIMARY KEY,
    state varchar(20) NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    code  int           -- qgen:on done set arg:code
);

CREATE TABLE history (
    call_id bigint NOT NULL PRIMARY KEY,
    tried   int NOT NULL,
    log     varchar(max) NOT NULL,
    code    int,
    keep_to datetimeoffset
);
