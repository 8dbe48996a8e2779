-- qgen:queue email
CREATE TABLE email_outbox (
    msg_id     INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'ready'       -- qgen:status ready=ready running=running done=done failed=failed
               CHECK (state IN ('ready', 'running', 'done', 'failed')),
    kind       TEXT NOT NULL,                      -- qgen:topic
    created_at INTEGER NOT NULL DEFAULT (unixepoch()), -- qgen:enqueued as=epoch
    not_before INTEGER,                            -- qgen:due as=epoch
    lease_till INTEGER,                            -- qgen:lease length=5m as=epoch
    token      TEXT,                               -- qgen:token
    tries      INTEGER NOT NULL DEFAULT 0,         -- qgen:attempts up on=claim max=5
    last_error TEXT,                               -- qgen:error max=1000
    body       TEXT NOT NULL                       -- qgen:payload
);
