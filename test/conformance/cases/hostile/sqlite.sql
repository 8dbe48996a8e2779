-- Names that are hard on SQL and on Go: keywords of both, capitals, blanks,
-- quotes, letters of other languages, and what would end a comment or a text.
-- qgen:queue
CREATE TABLE jobs (
    "Select"      INTEGER PRIMARY KEY,
    n             INTEGER NOT NULL,                   -- qgen:payload
    "State of it" TEXT NOT NULL DEFAULT 'ready',      -- qgen:status ready=ready running=running done=done failed=failed
    "func"        INTEGER NOT NULL DEFAULT 0,         -- qgen:attempts up on=claim max=3
    "order"       INTEGER,                            -- qgen:lease length=1h as=epoch_ms
    "range"       TEXT,                               -- qgen:worker
    "*/ err"      TEXT,                               -- qgen:error max=200
    "größe"       INTEGER DEFAULT 7,                  -- qgen:payload
    "日本"        TEXT,                               -- qgen:payload
    "it's"        TEXT,                               -- qgen:payload
    "a""b"        TEXT,                               -- qgen:payload
    "100%s"       TEXT,                               -- qgen:payload
    "{{.Table}}"  TEXT,                               -- qgen:payload
    "?1"          TEXT,                               -- qgen:payload
    "--"          TEXT,                               -- qgen:ignore
    type          TEXT,                               -- qgen:payload json
    "Key"         TEXT,                               -- qgen:payload
    "LogValue"    TEXT,                               -- qgen:payload
    ctx           TEXT,                               -- qgen:payload
    q             TEXT,                               -- qgen:payload
    jobs          TEXT,                               -- qgen:payload
    string        TEXT,                               -- qgen:payload
    nil           TEXT,                               -- qgen:payload
    "new
line"             TEXT,                               -- qgen:payload
    "end"         INTEGER,                            -- qgen:finished as=epoch_ms
    since         INTEGER NOT NULL DEFAULT 0          -- qgen:enqueued as=epoch_ms
);
