-- Each worker takes back what it left under its name, when it starts again.

-- Such a try counts, and the last of them fails the job.
-- qgen:queue tasks recover=own
CREATE TABLE tasks (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new claimed=held running=busy done=done failed=failed
    tries INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=2
    node  TEXT DEFAULT 'nobody' NOT NULL, -- qgen:worker free=nobody
    error TEXT -- qgen:error
);

-- The workers are numbered, and what had begun must not be done again.
-- qgen:queue steps recover=own expired=fail
CREATE TABLE steps (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    agent INTEGER -- qgen:worker
);

-- The rows of jobs that run are in another table, which says who has them.
-- qgen:queue files done=delete recover=own
CREATE TABLE files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL
);
CREATE TABLE files_open (
    id    INTEGER PRIMARY KEY,
    path  TEXT NOT NULL,
    token TEXT NOT NULL, -- qgen:token
    node  TEXT NOT NULL  -- qgen:worker
);

-- The number of the worker stands where those of the states do.
-- qgen:queue numbered
CREATE TABLE numbered (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=worker done=1 failed=2
    seen  INTEGER -- qgen:claimed as=epoch timeout=1h
);

-- SQL tells which numbers are those of workers.
-- qgen:queue ranged recover=own
CREATE TABLE ranged (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL -- qgen:status ready=0 running~"state > 1000 and (state <= 2000) and state <> 1500" running:=worker done=1 failed=2
);
