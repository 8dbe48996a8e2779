-- The workers are those of one program, which resets what ran when it ended.

-- qgen:queue books done=delete recover=start
CREATE TABLE books (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    busy INTEGER NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1
);

-- Such a try counts, and the last of them fails the job.
-- qgen:queue mails recover=start
CREATE TABLE mails (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N claimed=C running=A done=D failed=F
    tries INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=2
    node  TEXT,                       -- qgen:worker
    error TEXT                        -- qgen:error
);

-- What had begun must not be done again.
-- qgen:queue commands recover=start expired=fail
CREATE TABLE commands (
    id    INTEGER PRIMARY KEY,
    state INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3|6; on giveup set 6
    begun INTEGER,                    -- qgen:claimed as=epoch_ms
    ended INTEGER,                    -- qgen:finished as=epoch_ms also_failed
    error TEXT                        -- qgen:error; on giveup set old
);

-- The rows of jobs that run are in another table.
-- qgen:queue files done=delete recover=start
CREATE TABLE files (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL
);
CREATE TABLE files_open (
    id    INTEGER PRIMARY KEY,
    path  TEXT NOT NULL,
    token TEXT NOT NULL -- qgen:token
);
