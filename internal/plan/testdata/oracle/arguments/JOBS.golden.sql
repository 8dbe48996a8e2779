-- Package jobsq uses the table JOBS as a queue of jobs on Oracle 19 and later.
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
-- Besides the queue's own rows it writes RUNS (Claim, Complete, Fail, Redrive); ANSWERS (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: column "CODE" stays as it is when a job fails because its claim ran out (giveup)
-- note: column "why" of RUNS is left out when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "ID"
-- note: the fence is the count in column "TRIES" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: what goes from Complete to another table travels as a whole: for column "BODY" Oracle takes 2000 bytes for sure, and longer ones may make Complete fail

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* jobsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 0
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE JOBS
        SET    STATE = 1,
               LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               TRIES = TRIES + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, BODY
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_insert_runs.sql
-- claim: inserts rows into RUNS for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: worker Host, 2: given node *string, 3: list ID
INSERT /* jobsq.Claim */ INTO RUNS
       (JOB_ID, HOST, NODE)
SELECT held.ID, :1, :2
FROM   JOBS held
WHERE  (held.ID = :v0);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TRIES as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries
SELECT /* jobsq.Complete */
       ID
FROM   JOBS
WHERE  ((ID = :v0 AND TRIES = :v0))
AND    STATE = 1
FOR    UPDATE;

-- sql/complete_insert_answers.sql
-- complete: inserts rows into ANSWERS for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID Answer, 2: list ID BodyValue, 3: list ID Weight, 4: list ID At, 5: list ID Tries
INSERT /* jobsq.Complete */ INTO ANSWERS
       (ID, CODE, BODY, WEIGHT, ANSWERED_AT)
SELECT held.ID, CASE WHEN held.ID = :v0 THEN :v0 END,
       CASE WHEN held.ID = :v0 THEN (:v0) END,
       CASE WHEN held.ID = :v0 THEN ((:v0)) END,
       CASE WHEN held.ID = :v0 THEN (((TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))) END
FROM   JOBS held
WHERE  ((held.ID = :v0 AND held.TRIES = :v0));

-- sql/complete_delete_runs.sql
-- complete: deletes rows from RUNS for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of RUNS one that begins with JOB_ID
-- arguments: 1: list ID Tries
DELETE /* jobsq.Complete */ FROM RUNS
WHERE  (JOB_ID) IN (
           SELECT held.ID
           FROM   JOBS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0)));

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Code
DECLARE /* jobsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    CODE_HELD DBMS_SQL.NUMBER_TABLE := :3;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 2,
               LEASE_TILL = NULL,
               CODE = CODE_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 1;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* jobsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 0,
               LEASE_TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TRIES as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries
SELECT /* jobsq.Fail */
       ID
FROM   JOBS
WHERE  ((ID = :v0 AND TRIES = :v0))
AND    STATE = 1
FOR    UPDATE;

-- sql/fail_update_runs.sql
-- fail: updates rows of RUNS for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of RUNS one that begins with JOB_ID, HOST
-- arguments: 1: given why *string, 2: list ID Tries, 3: worker Host, 4: worker Host, 5: list ID Tries
UPDATE /* jobsq.Fail */ RUNS
SET    (WHY) = (
           SELECT :1
           FROM   JOBS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0))
           AND    RUNS.JOB_ID = held.ID
           AND    RUNS.HOST = :3
           AND    ROWNUM = 1)
WHERE  (JOB_ID, HOST) IN (
           SELECT held.ID, :4
           FROM   JOBS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0)));

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: given code *int64
DECLARE /* jobsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 3,
               LEASE_TILL = NULL,
               CODE = :3
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 1;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* jobsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 0,
               LEASE_TILL = NULL,
               TRIES = TRIES - 1
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* jobsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 1;
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
SELECT /* jobsq.Extend */
       ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   JOBS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ JOBS
SET    STATE = 0,
       LEASE_TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 1
           AND    TRIES < 3
           AND    LEASE_TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 1
AND    TRIES < 3
AND    LEASE_TILL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ JOBS
SET    STATE = 3,
       LEASE_TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 1
           AND    TRIES >= 3
           AND    LEASE_TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 1
AND    TRIES >= 3
AND    LEASE_TILL <= SYSTIMESTAMP;

-- sql/redrive_lock.sql
-- redrive: locks rows, which redrive.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* jobsq.Redrive */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 3
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/redrive_update_runs.sql
-- redrive: updates rows of RUNS for the rows that redrive_lock.sql locked, before redrive.sql
-- locks: the rows it writes, until commit
-- index: the key; of RUNS one that begins with JOB_ID
-- arguments: 1: given why *string, 2: list ID, 3: list ID
UPDATE /* jobsq.Redrive */ RUNS
SET    (WHY) = (
           SELECT :1
           FROM   JOBS held
           WHERE  (held.ID = :v0)
           AND    RUNS.JOB_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (JOB_ID) IN (
           SELECT held.ID
           FROM   JOBS held
           WHERE  (held.ID = :v0));

-- sql/redrive.sql
-- redrive: failed to ready, of the rows that redrive_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* jobsq.Redrive */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 0,
               LEASE_TILL = NULL,
               TRIES = 0
        WHERE  ID = ID_HELD(i)
        AND    STATE = 3;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 2
           AND    ROWNUM <= :1)
AND    STATE = 2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 3
           AND    ROWNUM <= :1)
AND    STATE = 3;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body, 2: new_key
INSERT /* jobsq.Enqueue */ INTO JOBS
       (BODY)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN STATE = 0 THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 1 AND LEASE_TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   JOBS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* jobsq.Backlog */
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       *
FROM   (
           SELECT ID, TRIES, BODY
           FROM   JOBS
           WHERE  STATE = 0
           ORDER  BY ID
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
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'CODE', 'number' FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of RUNS
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'JOB_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'HOST', 'varchar2' FROM DUAL UNION ALL
           SELECT 'NODE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WHY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'RUNS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of ANSWERS
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'CODE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'blob' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL UNION ALL
           SELECT 'ANSWERED_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ANSWERS'
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
CREATE INDEX JOBS_READY ON JOBS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
