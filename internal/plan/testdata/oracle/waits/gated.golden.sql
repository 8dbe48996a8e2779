-- Package gatedq uses the table MAILS as a queue of jobs on Oracle 19 and later.
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
-- Jobs are claimed by the strategy block: a block locks the first rows in queue order, waiting for locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of all jobs of the queue, one runs at once; a claim locks a row of ACCOUNTS that stands for the queue, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. When as many run as may, Claim returns no jobs. Without that row nothing is claimed, and Verify says so. Claims follow one another: each waits until the one before it is committed, so a transaction of the caller's own that claims is to be short.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MAILS_GATED_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 19 cannot return the rows of an UPDATE
-- * block        a block locks the first rows in queue order, waiting for locked ones, and writes them
--   token        no column can hold the key of a batch
--   lock_update  not needed: block comes first
--   advisory     Oracle has no locks on numbers
--   guarded      it reads ready rows without waiting for locks, and locked=wait is asked for
--   pop          it writes no running state, so the running rows of the queue cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_gate.sql
-- claim: one at a time, so that what runs can be counted
-- locks: the row of ACCOUNTS, until commit; without it nothing is claimed
-- index: of ACCOUNTS, whichever finds that row
SELECT /* gatedq.Claim */
       1
FROM   ACCOUNTS
WHERE  id = 1
FOR    UPDATE;

-- sql/claim_room.sql
-- claim: how many more rows may run
-- locks: none
-- index: (STATE, MADE, ID)
SELECT /* gatedq.Claim */
       1 - (
           SELECT count(*)
           FROM   MAILS
           WHERE  STATE = 'busy'
       )
FROM   DUAL;

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: (STATE, MADE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* gatedq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  ROWID IN (
                   SELECT picked_row
                   FROM   (
                              SELECT /*+ INDEX(MAILS MAILS_GATED_READY) */ ROWID AS picked_row
                              FROM   MAILS
                              WHERE  STATE = 'new'
                              ORDER  BY MADE, ID
                          )
                   WHERE  ROWNUM <= :1)
        AND    STATE = 'new'
        FOR    UPDATE;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    STATE = 'busy',
               TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, ACCOUNT, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* gatedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'sent',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* gatedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'dead',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* gatedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'new',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* gatedq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
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
SELECT /* gatedq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   MAILS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, MADE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* gatedq.Recover */ MAILS
SET    STATE = 'new',
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'busy'
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, MADE, ID)
-- arguments: 1: limit
UPDATE /* gatedq.Redrive */ MAILS
SET    STATE = 'new',
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, MADE, ID)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* gatedq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'sent'
           AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'sent'
AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, MADE, ID)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* gatedq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'dead'
           AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'dead'
AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Account, 2: new_key
INSERT /* gatedq.Enqueue */ INTO MAILS
       (ACCOUNT, MADE)
VALUES (:1, SYSTIMESTAMP)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* gatedq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'new' THEN MADE END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, MADE, ID)
SELECT /* gatedq.Backlog */
       count(*) AS READY,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(MADE)) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, MADE, ID)
-- arguments: 1: limit
SELECT /* gatedq.Peek */
       *
FROM   (
           SELECT ID, ACCOUNT, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
           FROM   MAILS
           WHERE  STATE = 'new'
           ORDER  BY MADE, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* gatedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* gatedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ACCOUNT', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'MADE', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MAILS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_gate.sql
-- verify: gate
-- locks: none
SELECT /* gatedq.Verify */
       'table ACCOUNTS has no row with id = 1, so that nothing is claimed'
FROM   DUAL
WHERE  NOT EXISTS (SELECT 1 FROM ACCOUNTS WHERE id = 1);

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* gatedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MAILS_GATED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'MAILS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few; it also serves Claim: counts the running rows
CREATE INDEX MAILS_GATED_READY ON MAILS (STATE, MADE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
