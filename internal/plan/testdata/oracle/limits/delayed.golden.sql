-- Package delayedq uses the table DELAYED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates DELAYED_READY.
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

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* delayedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(DELAYED DELAYED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   DELAYED
        WHERE  STATE = 'N'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE DELAYED
        SET    STATE = 'A',
               LOCKED_AT = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(LOCKED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), ATTEMPTS,
               MAX_ATTEMPTS
        FROM   DELAYED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: LOCKED_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LockedAt, 3: counts
DECLARE /* delayedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LOCKED_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DELAYED
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    LOCKED_AT = TO_TIMESTAMP_TZ(LOCKED_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: LOCKED_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LockedAt, 3: counts
DECLARE /* delayedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LOCKED_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DELAYED
        SET    STATE = 'N',
               LOCKED_AT = NULL,
               ATTEMPTS = coalesce(ATTEMPTS, 0) + 1
        WHERE  ID = ID_HELD(i)
        AND    LOCKED_AT = TO_TIMESTAMP_TZ(LOCKED_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: LOCKED_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LockedAt, 3: counts
DECLARE /* delayedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LOCKED_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DELAYED
        SET    STATE = 'F',
               ATTEMPTS = coalesce(ATTEMPTS, 0) + 1
        WHERE  ID = ID_HELD(i)
        AND    LOCKED_AT = TO_TIMESTAMP_TZ(LOCKED_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: LOCKED_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LockedAt, 3: counts
DECLARE /* delayedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LOCKED_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DELAYED
        SET    STATE = 'N',
               LOCKED_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    LOCKED_AT = TO_TIMESTAMP_TZ(LOCKED_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: LOCKED_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch LockedAt, 3: counts
DECLARE /* delayedq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    LOCKED_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DELAYED
        SET    LOCKED_AT = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    LOCKED_AT = TO_TIMESTAMP_TZ(LOCKED_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
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
SELECT /* delayedq.Extend */
       ID, TO_CHAR(LOCKED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   DELAYED
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ DELAYED
SET    STATE = 'N',
       LOCKED_AT = NULL,
       ATTEMPTS = coalesce(ATTEMPTS, 0) + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DELAYED
           WHERE  STATE = 'A'
           AND    (ATTEMPTS + 1 < coalesce(MAX_ATTEMPTS, 15) OR ATTEMPTS IS NULL OR MAX_ATTEMPTS = 0)
           AND    (ATTEMPTS IS NOT NULL OR MAX_ATTEMPTS > 1 OR MAX_ATTEMPTS IS NULL OR MAX_ATTEMPTS = 0)
           AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    (ATTEMPTS + 1 < coalesce(MAX_ATTEMPTS, 15) OR ATTEMPTS IS NULL OR MAX_ATTEMPTS = 0)
AND    (ATTEMPTS IS NOT NULL OR MAX_ATTEMPTS > 1 OR MAX_ATTEMPTS IS NULL OR MAX_ATTEMPTS = 0)
AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND');

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* delayedq.Recover */ DELAYED
SET    STATE = 'F',
       ATTEMPTS = coalesce(ATTEMPTS, 0) + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DELAYED
           WHERE  STATE = 'A'
           AND    (ATTEMPTS + 1 >= coalesce(MAX_ATTEMPTS, 15) OR ATTEMPTS IS NULL)
           AND    (ATTEMPTS IS NOT NULL OR MAX_ATTEMPTS <= 1)
           AND    (MAX_ATTEMPTS IS NULL OR MAX_ATTEMPTS <> 0)
           AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    (ATTEMPTS + 1 >= coalesce(MAX_ATTEMPTS, 15) OR ATTEMPTS IS NULL)
AND    (ATTEMPTS IS NOT NULL OR MAX_ATTEMPTS <= 1)
AND    (MAX_ATTEMPTS IS NULL OR MAX_ATTEMPTS <> 0)
AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* delayedq.Redrive */ DELAYED
SET    STATE = 'N',
       LOCKED_AT = NULL,
       ATTEMPTS = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DELAYED
           WHERE  STATE = 'F'
           AND    ROWNUM <= :1)
AND    STATE = 'F';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, LOCKED_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* delayedq.Purge */ FROM DELAYED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DELAYED
           WHERE  STATE = 'D'
           AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'D'
AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, LOCKED_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* delayedq.Purge */ FROM DELAYED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DELAYED
           WHERE  STATE = 'F'
           AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'F'
AND    LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxAttempts, 2: new_key
INSERT /* delayedq.Enqueue */ INTO DELAYED
       (ATTEMPTS, MAX_ATTEMPTS)
VALUES (0, :1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* delayedq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'F' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'A' AND LOCKED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'A' THEN LOCKED_AT END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   DELAYED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* delayedq.Backlog */
       count(*) AS READY
FROM   DELAYED
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* delayedq.Peek */
       *
FROM   (
           SELECT ID, ATTEMPTS, MAX_ATTEMPTS
           FROM   DELAYED
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* delayedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* delayedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'LOCKED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ATTEMPTS', 'number' FROM DUAL UNION ALL
           SELECT 'MAX_ATTEMPTS', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'DELAYED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* delayedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'DELAYED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'DELAYED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX DELAYED_READY ON DELAYED (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
