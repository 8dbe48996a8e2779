-- What tells a ready row holds of rows that run as well: as long as tries are left, or after some time.
-- qgen:queue sms
CREATE TABLE sms (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    sent  TEXT,                       -- qgen:status ready=null running=null done=now as=text:2006-01-02T15:04:05Z
    tries INTEGER NOT NULL DEFAULT 0  -- qgen:status ready~"tries <= 9" running~"tries > 0"; on claim,retry set +1; on release set old
);

-- qgen:queue crates recover=start
CREATE TABLE crates (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    status  TEXT NOT NULL DEFAULT 'queued', -- qgen:status ready=queued running=queued done=completed
    started TEXT -- qgen:status ready~"(started is null or started <= datetime('now', '-20 minutes'))" running~"started is not null"; on claim set "datetime('now')"; on retry,release,recover set null
);
