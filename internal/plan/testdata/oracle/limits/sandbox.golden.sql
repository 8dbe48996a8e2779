-- Package sandboxq uses the table SANDBOX as a queue of jobs on Oracle 19 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates SANDBOX_READY.
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
-- note: the fence is the count in column "RUN_COUNT" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* sandboxq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(SANDBOX SANDBOX_READY) */ ROWIDTOCHAR(ROWID)
        FROM   SANDBOX
        WHERE  STATUS = 'N'
        AND    (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE SANDBOX
        SET    STATUS = 'A',
               STARTED = SYSTIMESTAMP,
               RUN_COUNT = RUN_COUNT + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(STARTED, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), RUN_COUNT,
               MAX_RETRY
        FROM   SANDBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: RUN_COUNT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch RunCount, 3: counts
DECLARE /* sandboxq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    RUN_COUNT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE SANDBOX
        SET    STATUS = 'D'
        WHERE  ID = ID_HELD(i)
        AND    RUN_COUNT = RUN_COUNT_HELD(i)
        AND    STATUS = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: RUN_COUNT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch RunCount, 3: counts
DECLARE /* sandboxq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    RUN_COUNT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE SANDBOX
        SET    STATUS = 'N',
               STARTED = NULL
        WHERE  ID = ID_HELD(i)
        AND    RUN_COUNT = RUN_COUNT_HELD(i)
        AND    STATUS = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: RUN_COUNT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch RunCount, 3: counts
DECLARE /* sandboxq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    RUN_COUNT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE SANDBOX
        SET    STATUS = 'F'
        WHERE  ID = ID_HELD(i)
        AND    RUN_COUNT = RUN_COUNT_HELD(i)
        AND    STATUS = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: RUN_COUNT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch RunCount, 3: counts
DECLARE /* sandboxq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    RUN_COUNT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE SANDBOX
        SET    STATUS = 'N',
               STARTED = NULL,
               RUN_COUNT = RUN_COUNT - 1
        WHERE  ID = ID_HELD(i)
        AND    RUN_COUNT = RUN_COUNT_HELD(i)
        AND    STATUS = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: RUN_COUNT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch RunCount, 3: counts
DECLARE /* sandboxq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    RUN_COUNT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE SANDBOX
        SET    STARTED = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    RUN_COUNT = RUN_COUNT_HELD(i)
        AND    STATUS = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* sandboxq.Recover */ SANDBOX
SET    STATUS = 'N',
       STARTED = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   SANDBOX
           WHERE  STATUS = 'A'
           AND    (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1)
           AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 'A'
AND    (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1)
AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND');

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* sandboxq.Recover */ SANDBOX
SET    STATUS = 'F'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   SANDBOX
           WHERE  STATUS = 'A'
           AND    RUN_COUNT > MAX_RETRY
           AND    (MAX_RETRY IS NULL OR MAX_RETRY <> -1)
           AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 'A'
AND    RUN_COUNT > MAX_RETRY
AND    (MAX_RETRY IS NULL OR MAX_RETRY <> -1)
AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
UPDATE /* sandboxq.Redrive */ SANDBOX
SET    STATUS = 'N',
       STARTED = NULL,
       RUN_COUNT = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   SANDBOX
           WHERE  STATUS = 'F'
           AND    ROWNUM <= :1)
AND    STATUS = 'F';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID); it reads those that are not old enough as well, which one on (STATUS, STARTED) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* sandboxq.Purge */ FROM SANDBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   SANDBOX
           WHERE  STATUS = 'D'
           AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 'D'
AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID); it reads those that are not old enough as well, which one on (STATUS, STARTED) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* sandboxq.Purge */ FROM SANDBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   SANDBOX
           WHERE  STATUS = 'F'
           AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 'F'
AND    STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MaxRetry, 2: new_key
INSERT /* sandboxq.Enqueue */ INTO SANDBOX
       (MAX_RETRY)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sandboxq.Stats */
       count(CASE WHEN STATUS = 'N' AND (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'F' THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 'A' AND STARTED <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATUS = 'A' THEN STARTED END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   SANDBOX;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, ID); it reads others as well
SELECT /* sandboxq.Backlog */
       count(*) AS READY
FROM   SANDBOX
WHERE  STATUS = 'N'
AND    (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* sandboxq.Peek */
       *
FROM   (
           SELECT ID, RUN_COUNT, MAX_RETRY
           FROM   SANDBOX
           WHERE  STATUS = 'N'
           AND    (RUN_COUNT <= MAX_RETRY OR MAX_RETRY IS NULL OR MAX_RETRY = -1)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sandboxq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sandboxq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'char' FROM DUAL UNION ALL
           SELECT 'STARTED', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'RUN_COUNT', 'number' FROM DUAL UNION ALL
           SELECT 'MAX_RETRY', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'SANDBOX'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sandboxq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'SANDBOX_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'SANDBOX'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX SANDBOX_READY ON SANDBOX (STATUS, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
