-- qgen:queue incoming failed=keep
CREATE TABLE wolverine_incoming_envelopes (
    id TEXT NOT NULL,
    status TEXT NOT NULL,                 -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled failed=Dead; on retry set Scheduled
    owner_id INTEGER NOT NULL,            -- qgen:worker free=0 type=int
    execution_time TEXT DEFAULT NULL,     -- qgen:due as=text:'2006-01-02 15:04:05' clock=utc
    attempts INTEGER DEFAULT 0,           -- qgen:attempts up on=retry max=5
    body BLOB NOT NULL,                   -- qgen:payload
    message_type TEXT NOT NULL,           -- qgen:payload
    received_at TEXT NOT NULL,            -- qgen:topic
    keep_until TEXT DEFAULT NULL,         -- qgen:on done set "datetime('now', '+5 minutes')"
    PRIMARY KEY (id, received_at)
);
