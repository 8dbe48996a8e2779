-- Package tasksq uses the table TASKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TASKS_READY.
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
-- note: no column says when a claim in column "FETCHED" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: a row whose claim has run out is claimed again, since nothing but column "FETCHED" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "ID"
-- note: the fence is the count in column "ATTEMPTS" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (COMPLETED, ID)
-- arguments: 1: timeout, 2: limit, 3: cursor
DECLARE /* tasksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TASKS TASKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TASKS
        WHERE  COMPLETED IS NULL
        AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL)
        AND    ATTEMPTS < 3
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TASKS
        SET    FETCHED = SYS_EXTRACT_UTC(SYSTIMESTAMP),
               COMPLETED = NULL,
               ATTEMPTS = ATTEMPTS + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TO_CHAR(FETCHED, 'YYYY-MM-DD HH24:MI:SS.FF9'), ATTEMPTS
        FROM   TASKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: ATTEMPTS as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Attempts, 3: counts
DECLARE /* tasksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ATTEMPTS_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    COMPLETED = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ID = ID_HELD(i)
        AND    ATTEMPTS = ATTEMPTS_HELD(i)
        AND    COMPLETED IS NULL
        AND    FETCHED IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: ATTEMPTS as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Attempts, 3: counts
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ATTEMPTS_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    FETCHED = NULL,
               COMPLETED = NULL
        WHERE  ID = ID_HELD(i)
        AND    ATTEMPTS = ATTEMPTS_HELD(i)
        AND    COMPLETED IS NULL
        AND    FETCHED IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: ATTEMPTS as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Attempts, 3: counts
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ATTEMPTS_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    FETCHED = NULL,
               COMPLETED = NULL
        WHERE  ID = ID_HELD(i)
        AND    ATTEMPTS = ATTEMPTS_HELD(i)
        AND    COMPLETED IS NULL
        AND    FETCHED IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ATTEMPTS as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Attempts, 3: counts
DECLARE /* tasksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ATTEMPTS_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    FETCHED = NULL,
               COMPLETED = NULL,
               ATTEMPTS = ATTEMPTS - 1
        WHERE  ID = ID_HELD(i)
        AND    ATTEMPTS = ATTEMPTS_HELD(i)
        AND    COMPLETED IS NULL
        AND    FETCHED IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: ATTEMPTS as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Attempts, 3: counts
DECLARE /* tasksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ATTEMPTS_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    FETCHED = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ID = ID_HELD(i)
        AND    ATTEMPTS = ATTEMPTS_HELD(i)
        AND    COMPLETED IS NULL
        AND    FETCHED IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (COMPLETED, ID); it reads others as well
-- arguments: 1: timeout, 2: limit, 3: timeout
UPDATE /* tasksq.Redrive */ TASKS
SET    FETCHED = NULL,
       COMPLETED = NULL,
       ATTEMPTS = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  COMPLETED IS NULL
           AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL)
           AND    ATTEMPTS >= 3
           AND    ROWNUM <= :2)
AND    COMPLETED IS NULL
AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND') OR FETCHED IS NULL)
AND    ATTEMPTS >= 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (COMPLETED, ID)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  COMPLETED IS NOT NULL
           AND    COMPLETED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    COMPLETED IS NOT NULL
AND    COMPLETED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (COMPLETED, ID); it reads others as well
-- arguments: 1: timeout, 2: older, 3: limit, 4: timeout, 5: older
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  COMPLETED IS NULL
           AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL)
           AND    ATTEMPTS >= 3
           AND    FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:2, 'SECOND')
           AND    ROWNUM <= :3)
AND    COMPLETED IS NULL
AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:4, 'SECOND') OR FETCHED IS NULL)
AND    ATTEMPTS >= 3
AND    FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:5, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* tasksq.Enqueue */ INTO TASKS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout, 2: timeout, 3: timeout, 4: timeout, 5: timeout
SELECT /* tasksq.Stats */
       count(CASE WHEN COMPLETED IS NULL AND (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL) AND ATTEMPTS < 3 THEN 1 END) AS READY,
       count(CASE WHEN COMPLETED IS NULL AND FETCHED IS NOT NULL AND FETCHED > SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:2, 'SECOND') THEN 1 END) AS RUNNING,
       count(CASE WHEN COMPLETED IS NOT NULL THEN 1 END) AS DONE,
       count(CASE WHEN COMPLETED IS NULL AND (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND') OR FETCHED IS NULL) AND ATTEMPTS >= 3 THEN 1 END) AS FAILED,
       count(CASE WHEN COMPLETED IS NULL AND FETCHED IS NOT NULL AND FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:4, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN COMPLETED IS NULL AND FETCHED IS NOT NULL AND FETCHED > SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:5, 'SECOND') THEN FETCHED END) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   TASKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (COMPLETED, ID); it reads others as well
-- arguments: 1: timeout
SELECT /* tasksq.Backlog */
       count(*) AS READY
FROM   TASKS
WHERE  COMPLETED IS NULL
AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL)
AND    ATTEMPTS < 3;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (COMPLETED, ID)
-- arguments: 1: timeout, 2: limit
SELECT /* tasksq.Peek */
       *
FROM   (
           SELECT ID, ATTEMPTS
           FROM   TASKS
           WHERE  COMPLETED IS NULL
           AND    (FETCHED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND') OR FETCHED IS NULL)
           AND    ATTEMPTS < 3
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'FETCHED', 'timestamp' FROM DUAL UNION ALL
           SELECT 'COMPLETED', 'timestamp' FROM DUAL UNION ALL
           SELECT 'ATTEMPTS', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TASKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'TASKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TASKS'
           AND    have.index_name = want.name);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over
CREATE INDEX TASKS_READY ON TASKS (COMPLETED, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
