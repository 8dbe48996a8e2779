-- Finished and failed jobs go to tables of their own, and their parts go away: see qgen.yaml.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                       -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    tries      INTEGER NOT NULL DEFAULT 0,            -- qgen:attempts up on=claim max=3
    token      TEXT,                               -- qgen:token
    lease_till INTEGER,                                 -- qgen:lease length=1h as=epoch_ms
    cause      TEXT                                 -- qgen:error
);

CREATE TABLE parts (
    job_id INTEGER NOT NULL,
    place  INTEGER NOT NULL,
    PRIMARY KEY (job_id, place)
);

CREATE TABLE finished (
    id          INTEGER NOT NULL PRIMARY KEY,
    n           INTEGER NOT NULL,
    note        TEXT NOT NULL,
    token       TEXT NOT NULL,
    finished_at INTEGER NOT NULL
);

CREATE TABLE dead (
    id     INTEGER NOT NULL PRIMARY KEY,
    n      INTEGER NOT NULL,
    status TEXT NOT NULL,
    tries  INTEGER NOT NULL,
    cause  TEXT
);

CREATE TABLE taken (
    job_id INTEGER NOT NULL,
    token  TEXT NOT NULL,
    ended  TEXT,
    PRIMARY KEY (job_id, token)
);
