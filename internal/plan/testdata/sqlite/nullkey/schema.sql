-- Reports that wait to be scanned. A row without a report is none.
-- qgen:queue scans done=delete
-- qgen:where "report is not null"
CREATE TABLE scans (
    report INTEGER UNIQUE,
    body   TEXT,
    start  INTEGER NOT NULL, -- qgen:order
    till   INTEGER -- qgen:lease length=5m as=epoch
);
-- Two columns name a row, of which the database lets one be null.
-- qgen:queue parts
-- qgen:where "part > 0 and kind = 'part'"
CREATE TABLE parts (
    host   TEXT NOT NULL,
    part   INTEGER,
    kind   TEXT NOT NULL, -- qgen:on enqueue set 'part'
    state  INTEGER NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    UNIQUE (host, part)
);
-- Mail of a spool; what runs is in a table of its own.
-- qgen:queue mails done=delete
-- qgen:where "mail is not null"
CREATE TABLE mails (
    mail INTEGER UNIQUE
);
CREATE TABLE mails_sending (
    mail INTEGER UNIQUE,
    host TEXT -- qgen:worker
);
