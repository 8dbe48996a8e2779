-- Reports that wait to be scanned. A row without a report is none.
-- qgen:queue scans done=delete
-- qgen:where "report is not null"
CREATE TABLE scans (
    report integer UNIQUE,
    body   varchar(40),
    start  bigint NOT NULL, -- qgen:order
    till   timestamptz -- qgen:lease length=5m
);
-- Two columns name a row, of which the database lets one be null.
-- qgen:queue parts
-- qgen:where "part > 0 and kind = 'part'"
CREATE TABLE parts (
    host   varchar(40) NOT NULL,
    part   integer,
    kind   varchar(40) NOT NULL, -- qgen:on enqueue set 'part'
    state  integer NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    UNIQUE (host, part)
);
-- Mail of a spool; what runs is in a table of its own.
-- qgen:queue mails done=delete
-- qgen:where "mail is not null"
CREATE TABLE mails (
    mail integer UNIQUE
);
CREATE TABLE mails_sending (
    mail integer UNIQUE,
    host varchar(40) -- qgen:worker
);
