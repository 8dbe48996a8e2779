-- Package guardedq uses the table JOBS as a queue of jobs on Oracle 19 and later.
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
-- Jobs are claimed by the strategy guarded: strategy=guarded is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOBS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=guarded is asked for
--   lease_table  strategy=guarded is asked for
--   hold         strategy=guarded is asked for
--   partition    strategy=guarded is asked for
--   returning    strategy=guarded is asked for
--   block        strategy=guarded is asked for
--   token        strategy=guarded is asked for
--   lock_update  strategy=guarded is asked for
--   advisory     strategy=guarded is asked for
-- * guarded      strategy=guarded is asked for
--   pop          strategy=guarded is asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing in the DDL of HEADS tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "ID"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* guardedq.Claim */
       *
FROM   (
           SELECT ID
           FROM   JOBS
           WHERE  STATUS = 'ready'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- arguments: 1: list ID
SELECT /* guardedq.Claim */
       ID
FROM   JOBS
WHERE  (ID = :v0)
AND    STATUS = 'ready'
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: token Token
DECLARE /* guardedq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE JOBS
        SET    STATUS = 'running',
               TOKEN = :2,
               LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* guardedq.Claim */
       ID, TOKEN, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), BODY_ID
FROM   JOBS
WHERE  (ID = :v0);

-- sql/payload.sql
-- payload: what claimed jobs have in APP.BODIES, HEADS
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* guardedq.Payload */
       JOBS.ID, b.BODY, b.STATUS, b."RAW",
       TO_CHAR(b.MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), job.SUBJECT
FROM   JOBS
       LEFT JOIN APP.BODIES b
       ON  (b.id = JOBS.body_id)
       LEFT JOIN HEADS job
       ON  (job.body_id = JOBS.body_id)
WHERE  (JOBS.ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* guardedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 'done',
               LEASE_TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATUS = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* guardedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 'failed',
               LEASE_TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATUS = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* guardedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATUS = 'ready',
               TOKEN = NULL,
               LEASE_TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATUS = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* guardedq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATUS = 'running';
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
SELECT /* guardedq.Extend */
       ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   JOBS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* guardedq.Recover */ JOBS
SET    STATUS = 'ready',
       TOKEN = NULL,
       LEASE_TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 'running'
           AND    LEASE_TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATUS = 'running'
AND    LEASE_TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
UPDATE /* guardedq.Redrive */ JOBS
SET    STATUS = 'ready',
       TOKEN = NULL,
       LEASE_TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 'failed'
           AND    ROWNUM <= :1)
AND    STATUS = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* guardedq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 'done'
           AND    ROWNUM <= :1)
AND    STATUS = 'done';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* guardedq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATUS = 'failed'
           AND    ROWNUM <= :1)
AND    STATUS = 'failed';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new BodyID, 2: new_key
INSERT /* guardedq.Enqueue */ INTO JOBS
       (BODY_ID)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* guardedq.Stats */
       count(CASE WHEN STATUS = 'ready' THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'running' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'done' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 'running' AND LEASE_TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   JOBS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, ID)
SELECT /* guardedq.Backlog */
       count(*) AS READY
FROM   JOBS
WHERE  STATUS = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* guardedq.Peek */
       *
FROM   (
           SELECT ID, BODY_ID
           FROM   JOBS
           WHERE  STATUS = 'ready'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* guardedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* guardedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'BODY_ID', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of APP.BODIES
-- locks: none
SELECT /* guardedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'BODY' AS name, 'clob' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RAW', 'blob' FROM DUAL UNION ALL
           SELECT 'MADE', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = 'APP'
       AND have.table_name = 'BODIES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload2.sql
-- verify: columns of HEADS
-- locks: none
SELECT /* guardedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SUBJECT' AS name, 'clob' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'HEADS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* guardedq.Verify */
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
-- jobsq advises the same
CREATE INDEX JOBS_READY ON JOBS (STATUS, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
