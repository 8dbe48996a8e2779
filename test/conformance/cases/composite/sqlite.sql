-- Two columns name a row, and the application chooses both.
-- qgen:queue
CREATE TABLE jobs (
    region     TEXT NOT NULL,
    seq        INTEGER NOT NULL,                     -- qgen:order
    n          INTEGER NOT NULL,                     -- qgen:payload
    status     TEXT NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    token      TEXT,                                 -- qgen:token
    lease_till INTEGER,                              -- qgen:lease length=1h as=epoch_ms
    PRIMARY KEY (region, seq)
) WITHOUT ROWID;
