-- Package jobsq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Refused---------> failed
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
-- Besides the queue's own rows it writes PARTS (Complete, Discard), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOBS_READY.
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
-- note: rows are taken as they came, by column "REF"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, REF)
-- arguments: 1: limit, 2: cursor
DECLARE /* jobsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATUS = 1
        ORDER  BY REF
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE JOBS
        SET    STATUS = 3,
               TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT REF, JOB_DATA, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TILL as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Ref Till
SELECT /* jobsq.Complete */
       REF
FROM   JOBS
WHERE  ((REF = :v0 AND TILL = TO_TIMESTAMP(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9')))
AND    STATUS = 3
FOR    UPDATE;

-- sql/complete_delete_parts.sql
-- complete: deletes rows from PARTS for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of PARTS one that begins with JOB
-- arguments: 1: list Ref Till
DELETE /* jobsq.Complete */ FROM PARTS
WHERE  (JOB) IN (
           SELECT held.REF
           FROM   JOBS held
           WHERE  ((held.REF = :v0 AND held.TILL = TO_TIMESTAMP(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9'))));

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till
DECLARE /* jobsq.Complete */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 2,
               TILL = NULL
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till, 3: counts
DECLARE /* jobsq.Fail */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 5,
               TILL = NULL
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
    FOR i IN 1 .. REF_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till, 3: counts
DECLARE /* jobsq.Requeue */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 1,
               TILL = NULL
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
    FOR i IN 1 .. REF_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till, 3: counts
DECLARE /* jobsq.Extend */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        UPDATE JOBS
        SET    TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
    FOR i IN 1 .. REF_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list Ref
SELECT /* jobsq.Extend */
       REF, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   JOBS
WHERE  (REF = :v0);

-- sql/outcome_discard_lock.sql
-- outcome_discard: locks the rows of jobs whose claims are still theirs, which outcome_discard.sql then writes
-- fence: TILL as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Ref Till
SELECT /* jobsq.Discard */
       REF
FROM   JOBS
WHERE  ((REF = :v0 AND TILL = TO_TIMESTAMP(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9')))
AND    STATUS = 3
FOR    UPDATE;

-- sql/outcome_discard_delete_parts.sql
-- outcome_discard: deletes rows from PARTS for the rows that outcome_discard_lock.sql locked, before outcome_discard.sql
-- locks: the rows it writes, until commit
-- index: the key; of PARTS one that begins with JOB
-- arguments: 1: list Ref Till
DELETE /* jobsq.Discard */ FROM PARTS
WHERE  (JOB) IN (
           SELECT held.REF
           FROM   JOBS held
           WHERE  ((held.REF = :v0 AND held.TILL = TO_TIMESTAMP(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9'))));

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till
DECLARE /* jobsq.Discard */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        DELETE FROM JOBS
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
END;

-- sql/outcome_refused.sql
-- outcome_refused: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Ref, 2: batch Till, 3: given data string, 4: counts
DECLARE /* jobsq.Refused */
    REF_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REF_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 5,
               JOB_DATA = :3,
               TILL = NULL
        WHERE  REF = REF_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 3;
    FOR i IN 1 .. REF_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, REF), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ JOBS
SET    STATUS = 1,
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 3
           AND    TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    ROWNUM <= :1)
AND    STATUS = 3
AND    TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, REF)
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ JOBS
SET    STATUS = 1,
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 5
           AND    ROWNUM <= :1)
AND    STATUS = 5;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, REF)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 2
           AND    ROWNUM <= :1)
AND    STATUS = 2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, REF)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 5
           AND    ROWNUM <= :1)
AND    STATUS = 5;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobData, 2: new_key
INSERT /* jobsq.Enqueue */ INTO JOBS
       (JOB_DATA)
VALUES (:1)
/* the new key */ RETURNING REF INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN STATUS = 1 THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 3 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 5 THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 3 AND TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED
FROM   JOBS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, REF)
SELECT /* jobsq.Backlog */
       count(*) AS READY
FROM   JOBS
WHERE  STATUS = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, REF)
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       *
FROM   (
           SELECT REF, JOB_DATA
           FROM   JOBS
           WHERE  STATUS = 1
           ORDER  BY REF
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REF' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'number' FROM DUAL UNION ALL
           SELECT 'JOB_DATA', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of PARTS
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'JOB' AS name, 'number' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PARTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOBS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOBS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX JOBS_READY ON JOBS (STATUS, REF) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
