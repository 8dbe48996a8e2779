-- The table of the example, as SQLite keeps it: mails that wait to be sent.
-- The annotations say what the columns mean to a worker.

-- qgen:queue email
CREATE TABLE email_outbox (
    msg_id     INTEGER PRIMARY KEY,
    recipient  TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    state      TEXT    NOT NULL DEFAULT 'ready'        -- qgen:status ready=ready running=sending done=sent failed=failed
               CHECK (state IN ('ready', 'sending', 'sent', 'failed')),
    not_before INTEGER,                                -- qgen:due as=epoch
    lease_till INTEGER,                                -- qgen:lease length=3s as=epoch
    token      TEXT,                                   -- qgen:token
    worker     TEXT,                                   -- qgen:worker
    tries      INTEGER NOT NULL DEFAULT 0,             -- qgen:attempts up on=claim max=3
    last_error TEXT,                                   -- qgen:error max=500
    created_at INTEGER NOT NULL DEFAULT (unixepoch()), -- qgen:enqueued as=epoch
    sent_at    INTEGER                                 -- qgen:finished as=epoch
);

-- What the example's workers do to the outside world: one row for each mail
-- sent. It is no queue.
CREATE TABLE delivery (
    msg_id INTEGER NOT NULL,
    worker TEXT    NOT NULL
);
