-- Reports that wait to be scanned. A row without a report is none.
-- qgen:queue scans done=delete
-- qgen:where "report is not null"
CREATE TABLE scans (
    report NUMBER(9) UNIQUE,
    body   VARCHAR2(40),
    start  NUMBER(19) NOT NULL, -- qgen:order
    till   TIMESTAMP -- qgen:lease length=5m
);
-- Two columns name a row, of which the database lets one be null.
-- qgen:queue parts
-- qgen:where "part > 0 and kind = 'part'"
CREATE TABLE parts (
    host   VARCHAR2(40) NOT NULL,
    part   NUMBER(9),
    kind   VARCHAR2(40) NOT NULL, -- qgen:on enqueue set 'part'
    state  NUMBER(9) NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    UNIQUE (host, part)
);
