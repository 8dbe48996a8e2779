-- A build input waits or runs once: what is asked for again changes how urgent it is.
-- qgen:queue builds done=delete enqueue=update
CREATE TABLE builds (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    build_input_id INTEGER NOT NULL,
    priority       INTEGER NOT NULL,        -- qgen:priority asc
    queued_at      DATETIME NOT NULL,       -- qgen:enqueued as='text:2006-01-02 15:04:05'
    started_at     DATETIME,                -- qgen:claimed as='text:2006-01-02 15:04:05.000' timeout=9m expired=recover
    worker         INTEGER,                 -- qgen:worker free=null; status ready=null running~set
    note           TEXT
);
CREATE UNIQUE INDEX builds_input ON builds (build_input_id);

-- An object that could not be fetched comes here again, and so counts a try.
-- qgen:queue syncs strategy=partition done=delete enqueue=update
CREATE TABLE syncs (
    library    INT NOT NULL,  -- qgen:topic; shard mod
    "key"      TEXT NOT NULL,
    object     INT NOT NULL,  -- qgen:topic
    last_check INT,           -- qgen:on enqueue,retry,update set now as=epoch; order 1
    tries      INT,           -- qgen:attempts up on=retry null=0; on enqueue set 0; on update set +1
    PRIMARY KEY (library, "key", object)
);

-- One row per address and kind, in whatever case; the later kind wins where both are given.
-- qgen:queue mails enqueue=update key="lower(address)"
CREATE TABLE mails (
    address TEXT NOT NULL PRIMARY KEY,
    kind    TEXT,
    weight  REAL DEFAULT 1.5,          -- qgen:on update set "max({row}.weight, {new}.weight)"
    data    BLOB,
    due     INT DEFAULT 0 NOT NULL,    -- qgen:visible length=5m as=epoch
    state   TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sent', 'bad')), -- qgen:status ready=new done=sent failed=bad
    tries   INT NOT NULL,              -- qgen:attempts down on=claim
    "when"  TEXT DEFAULT 'soon'
);
CREATE UNIQUE INDEX mails_address ON mails (lower(address)) WHERE state = 'new';
