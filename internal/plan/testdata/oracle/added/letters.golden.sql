-- Package lettersq uses the table LETTERS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes PAGES (Enqueue, Purge); TOTALS (Enqueue); LETTERS (Enqueue); JOURNAL (Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates LETTERS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 19 cannot return the rows of an UPDATE
-- * block        a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them
--   token        no column can hold the key of a batch
--   lock_update  not needed: block comes first
--   advisory     Oracle has no locks on numbers
--   guarded      not needed: block comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "ID"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* lettersq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(LETTERS LETTERS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   LETTERS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE LETTERS
        SET    STATE = 'busy',
               LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), ADDRESS,
               CAUSE
        FROM   LETTERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: LEASE_TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LeaseTill, 3: counts
DECLARE /* lettersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LEASE_TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'sent',
               LEASE_TILL = NULL,
               ENDED = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    LEASE_TILL = TO_TIMESTAMP_TZ(LEASE_TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: LEASE_TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LeaseTill, 3: error, 4: counts
DECLARE /* lettersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LEASE_TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'error',
               LEASE_TILL = NULL,
               ENDED = SYSTIMESTAMP,
               CAUSE = :3
        WHERE  ID = ID_HELD(i)
        AND    LEASE_TILL = TO_TIMESTAMP_TZ(LEASE_TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: LEASE_TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LeaseTill, 3: counts
DECLARE /* lettersq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LEASE_TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'new',
               LEASE_TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    LEASE_TILL = TO_TIMESTAMP_TZ(LEASE_TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: LEASE_TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LeaseTill, 3: counts
DECLARE /* lettersq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LEASE_TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    LEASE_TILL = TO_TIMESTAMP_TZ(LEASE_TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* lettersq.Extend */
       ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   LETTERS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ LETTERS
SET    STATE = 'new',
       LEASE_TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  STATE = 'busy'
           AND    LEASE_TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    LEASE_TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ LETTERS
SET    STATE = 'new',
       LEASE_TILL = NULL,
       ENDED = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  STATE = 'error'
           AND    ROWNUM <= :1)
AND    STATE = 'error';

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, ENDED) would not
-- arguments: 1: older, 2: limit, 3: cursor
DECLARE /* lettersq.Purge */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   LETTERS
        WHERE  STATE = 'sent'
        AND    ENDED <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   LETTERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/purge_done_delete_pages.sql
-- purge_done: deletes rows from PAGES for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of PAGES one that begins with LETTER_ID
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ FROM PAGES
WHERE  (LETTER_ID) IN (
           SELECT held.ID
           FROM   LETTERS held
           WHERE  (held.ID = :v0));

-- sql/purge_done_insert_journal.sql
-- purge_done: inserts rows into JOURNAL for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* lettersq.Purge */ INTO JOURNAL
       (WHAT, ID, ADDRESS, ENDED)
SELECT held.STATE, held.ID, held.ADDRESS, held.ENDED
FROM   LETTERS held
WHERE  (held.ID = :v0)
AND    (held.cause is not null);

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* lettersq.Purge */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM LETTERS
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'sent';
END;

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, ENDED) would not
-- arguments: 1: older, 2: limit, 3: cursor
DECLARE /* lettersq.Purge */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   LETTERS
        WHERE  STATE = 'error'
        AND    ENDED <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   LETTERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/purge_failed_delete_pages.sql
-- purge_failed: deletes rows from PAGES for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of PAGES one that begins with LETTER_ID
-- arguments: 1: list ID
DELETE /* lettersq.Purge */ FROM PAGES
WHERE  (LETTER_ID) IN (
           SELECT held.ID
           FROM   LETTERS held
           WHERE  (held.ID = :v0));

-- sql/purge_failed_insert_journal.sql
-- purge_failed: inserts rows into JOURNAL for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* lettersq.Purge */ INTO JOURNAL
       (WHAT, ID, ADDRESS, ENDED)
SELECT held.STATE, held.ID, held.ADDRESS, held.ENDED
FROM   LETTERS held
WHERE  (held.ID = :v0)
AND    (held.cause is not null);

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* lettersq.Purge */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM LETTERS
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'error';
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new_key
INSERT /* lettersq.Enqueue */ INTO LETTERS
       (ADDRESS)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/enqueue_insert_pages.sql
-- enqueue: inserts rows into PAGES for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* lettersq.Enqueue */ INTO PAGES
       (LETTER_ID, PLACE)
SELECT held.ID, 1
FROM   LETTERS held
WHERE  (held.ID = :v0);

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of TOTALS for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID, 2: list ID
UPDATE /* lettersq.Enqueue */ TOTALS
SET    (LETTERS, LAST_AT) = (
           SELECT (totals.letters + shared.JOBS), SYSTIMESTAMP
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             count(*) AS JOBS
                      FROM   LETTERS held
                      WHERE  (held.ID = :v0)
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  (held.ID = :v0));

-- sql/enqueue_insert_letters.sql
-- enqueue: inserts rows into LETTERS for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* lettersq.Enqueue */ INTO LETTERS
       (ADDRESS)
SELECT 'second'
FROM   LETTERS held
WHERE  (held.ID = :v0)
AND    (held.address = 'both');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'error' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND LEASE_TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   LETTERS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* lettersq.Backlog */
       count(*) AS READY
FROM   LETTERS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       *
FROM   (
           SELECT ID, ADDRESS, CAUSE
           FROM   LETTERS
           WHERE  STATE = 'new'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ENDED', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CAUSE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'LETTERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of PAGES
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'LETTER_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'PLACE', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PAGES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of TOTALS
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'LETTERS' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'LAST_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TOTALS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of JOURNAL
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'WHAT' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'ID', 'number' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ENDED', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOURNAL'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'LETTERS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'LETTERS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX LETTERS_READY ON LETTERS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
