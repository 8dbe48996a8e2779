-- A step that gives a job back and leaves the time of its claim leaves it running until that is over.
-- qgen:queue tasks done=delete
CREATE TABLE tasks (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    since INTEGER,                    -- qgen:claimed as=epoch timeout=1h expired=claim; on retry,release set old
    v     INTEGER NOT NULL DEFAULT 0, -- qgen:version
    error TEXT                        -- qgen:error
);

-- So it is where the time is that of the next try as well.
-- qgen:queue messages done=delete
CREATE TABLE messages (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    at    INTEGER NOT NULL,           -- qgen:visible as=epoch length=5m; on retry,release set old
    n     INTEGER NOT NULL DEFAULT 0, -- qgen:attempts max=3 limit=claim
    error TEXT                        -- qgen:error
);

-- Another time is the end of a wait; the present is none.
-- qgen:queue reports done=delete
CREATE TABLE reports (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    till  INTEGER, -- qgen:lease as=epoch length=5m expired=claim; on retry set now; on release set now+10m
    error TEXT     -- qgen:error
);

-- Whoever still holds a row without a time has it for good.
-- qgen:queue mails done=delete
CREATE TABLE mails (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT,    -- qgen:worker; on retry,recover set old
    since INTEGER, -- qgen:claimed as=epoch timeout=1h expired=recover
    error TEXT     -- qgen:error
);

-- A condition of one's own looks at what stays.
-- qgen:queue calls done=delete
CREATE TABLE calls (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    till  INTEGER, -- qgen:lease as=epoch length=5m expired=claim; status ready~"till is null or till <= {now}" ready:=null running~"till > {now}"; on retry set old
    error TEXT     -- qgen:error
);

-- Where a status makes the row ready, the time of the claim does not matter.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    till  INTEGER,                     -- qgen:lease as=epoch length=5m expired=claim; on retry,release set old
    error TEXT                         -- qgen:error
);
