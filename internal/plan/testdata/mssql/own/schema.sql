-- Each worker takes back what it left under its name, when it starts again.

-- Such a try counts, and the last of them fails the job.
-- qgen:queue tasks recover=own
CREATE TABLE tasks (
    id    bigint IDENTITY PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new claimed=held running=busy done=done failed=failed
    tries int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=2
    node  varchar(40) DEFAULT 'nobody' NOT NULL, -- qgen:worker free=nobody
    error nvarchar(max) -- qgen:error
);

-- The workers are numbered, and what had begun must not be done again.
-- qgen:queue steps recover=own expired=fail
CREATE TABLE steps (
    id    bigint IDENTITY PRIMARY KEY,
    state int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    agent int -- qgen:worker
);
