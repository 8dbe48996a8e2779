-- The rows of jobs that run are in a table of their own, and so are those of finished and
-- failed jobs, whose parts go away: see qgen.yaml.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    n          INTEGER NOT NULL,           -- qgen:payload
    tries      INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    last_error TEXT                        -- qgen:error
);

CREATE TABLE jobs_running (
    id         INTEGER NOT NULL PRIMARY KEY,
    n          INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    last_error TEXT,
    worker     TEXT NOT NULL,   -- qgen:worker
    token      TEXT NOT NULL,   -- qgen:token
    lease_till INTEGER NOT NULL -- qgen:lease length=1h as=epoch_ms
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
    id         INTEGER NOT NULL PRIMARY KEY,
    n          INTEGER NOT NULL,
    status     TEXT NOT NULL,
    tries      INTEGER NOT NULL,
    last_error TEXT
);

CREATE TABLE taken (
    job_id INTEGER NOT NULL,
    token  TEXT NOT NULL,
    ended  TEXT,
    PRIMARY KEY (job_id, token)
);
