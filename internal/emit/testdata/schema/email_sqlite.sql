CREATE TABLE email_outbox (
    msg_id     INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'N' CHECK (state IN ('N', 'A', 'C', 'E')),
    kind       TEXT NOT NULL,
    priority   INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL DEFAULT (unixepoch()),
    not_before INTEGER,
    lease_till TEXT,
    token      TEXT,
    reader     TEXT,
    tries      INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    body       TEXT NOT NULL
);
CREATE INDEX email_outbox_ready ON email_outbox (kind, priority DESC, not_before, msg_id) WHERE state = 'N';
