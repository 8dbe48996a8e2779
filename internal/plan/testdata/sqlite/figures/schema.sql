-- What Stats counts where a row waits for some time, a claim has arguments, and a new row looks like one that was claimed.
-- qgen:queue builds
-- qgen:where "size <= {arg:most int}"
CREATE TABLE builds (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    size  INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    last  INTEGER                      -- qgen:due as=epoch null=now add=60s
);

-- qgen:queue outbox
CREATE TABLE outbox (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    sent     INTEGER NOT NULL DEFAULT 0,       -- qgen:status ready=0 running=0 done=1
    attempts INTEGER NOT NULL DEFAULT 0,       -- qgen:attempts up on=claim max=5
    last     INTEGER DEFAULT (unixepoch() - 1) -- qgen:claimed as=epoch timeout="case when attempts = 0 then 0 else 1800 end" unit=s expired=claim; on enqueue,retry,fail set old
);

-- qgen:queue posts
CREATE TABLE posts (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    sent INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=0 done=1
    last INTEGER DEFAULT (unixepoch()) -- qgen:claimed as=epoch timeout=30m expired=claim
);

-- qgen:queue letters
CREATE TABLE letters (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    sent INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 running=0 done=1
    last INTEGER                     -- qgen:claimed as=epoch timeout=30m expired=claim
);

-- What Complete writes over the time of the claim, and what it leaves.
-- qgen:queue workers
CREATE TABLE workers (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    made   INTEGER,                     -- qgen:enqueued as=epoch
    last   INTEGER,                     -- qgen:claimed as=epoch; on done set now
    ended  INTEGER                      -- qgen:finished as=epoch
);
-- qgen:queue runs
CREATE TABLE runs (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    made   INTEGER,                     -- qgen:enqueued as=epoch
    last   INTEGER,                     -- qgen:claimed as=epoch timeout=1h
    ended  INTEGER                      -- qgen:finished as=epoch
);
-- qgen:queue ends
CREATE TABLE ends (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    made   INTEGER,                     -- qgen:enqueued as=epoch
    last   INTEGER,                     -- qgen:claimed as=epoch
    ended  INTEGER                      -- qgen:finished as=epoch; on done set arg:ended
);
