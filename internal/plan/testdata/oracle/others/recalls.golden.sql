-- Package recallsq uses the table TAPE_RECALL as a queue of jobs on Oracle 19 and later.
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
-- It locks the rows it takes until it commits and passes over rows that others hold. It writes rows of other jobs as well, and waits for who has those locked: of two claims that wait for each other one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes rows of other jobs (Enqueue, Claim, Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TAPE_RECALL_RECALLS_READY and TAPE_RECALL_RECALLS_OTHERS.
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

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, DUE, TASK_ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* recallsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TAPE_RECALL TAPE_RECALL_RECALLS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TAPE_RECALL
        WHERE  STATUS = 1
        AND    DUE <= SYSTIMESTAMP
        ORDER  BY DUE, TASK_ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 2,
               SINCE = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT TASK_ID, GRP, FNAME, TO_CHAR(SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TRIES, TO_CHAR(DUE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), WEIGHT, WHY
        FROM   TAPE_RECALL
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_update_tape_recall.sql
-- claim: updates rows of TAPE_RECALL for the rows that were taken; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows TAPE_RECALL_GROUP (GRP)
-- arguments: 1: list TaskID, 2: list TaskID, 3: list TaskID
UPDATE /* recallsq.Claim */ TAPE_RECALL
SET    (STATUS, SINCE) = (
           SELECT 2, SYSTIMESTAMP
           FROM   TAPE_RECALL held
           WHERE  (held.TASK_ID = :v0)
           AND    TAPE_RECALL.GRP = held.GRP
           AND    ROWNUM = 1)
WHERE  (GRP) IN (
           SELECT held.GRP
           FROM   TAPE_RECALL held
           WHERE  (held.TASK_ID = :v0))
AND    TAPE_RECALL.STATUS = 1
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: SINCE as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Complete */
       TASK_ID
FROM   TAPE_RECALL
WHERE  ((TASK_ID = :v0 AND SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
AND    STATUS = 2
FOR    UPDATE;

-- sql/complete_update_tape_recall.sql
-- complete: updates rows of TAPE_RECALL for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows TAPE_RECALL_GROUP (GRP)
-- arguments: 1: list TaskID Since, 2: list TaskID Since, 3: list TaskID
UPDATE /* recallsq.Complete */ TAPE_RECALL
SET    (STATUS, WEIGHT) = (
           SELECT 0, (tape_recall.weight + shared.JOBS)
           FROM   (
                      SELECT held.GRP AS OF_GRP,
                             count(*) AS JOBS
                      FROM   TAPE_RECALL held
                      WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
                      GROUP  BY held.GRP
                  ) shared
           WHERE  TAPE_RECALL.GRP = shared.OF_GRP
       )
WHERE  (GRP) IN (
           SELECT held.GRP
           FROM   TAPE_RECALL held
           WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))))
AND    TAPE_RECALL.STATUS IN (2, 1)
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID, 2: batch Since
DECLARE /* recallsq.Complete */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 0
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 2;
END;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: SINCE as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Fail */
       TASK_ID
FROM   TAPE_RECALL
WHERE  ((TASK_ID = :v0 AND SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
AND    STATUS = 2
FOR    UPDATE;

-- sql/retry_update_tape_recall.sql
-- retry: updates rows of TAPE_RECALL for the rows that retry_lock.sql locked, before retry.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows TAPE_RECALL_GROUP (GRP)
-- arguments: 1: list TaskID Since, 2: list TaskID Since, 3: list TaskID
UPDATE /* recallsq.Fail */ TAPE_RECALL
SET    (DUE) = (
           SELECT (held.due + interval '5' minute)
           FROM   TAPE_RECALL held
           WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
           AND    TAPE_RECALL.GRP = held.GRP
           AND    ROWNUM = 1)
WHERE  (GRP) IN (
           SELECT held.GRP
           FROM   TAPE_RECALL held
           WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))))
AND    TAPE_RECALL.STATUS = 1
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID, 2: batch Since, 3: delay, 4: error
DECLARE /* recallsq.Fail */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 1,
               SINCE = NULL,
               TRIES = TRIES + 1,
               DUE = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               WHY = :4
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 2;
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: SINCE as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list TaskID Since
SELECT /* recallsq.Fail */
       TASK_ID
FROM   TAPE_RECALL
WHERE  ((TASK_ID = :v0 AND SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
AND    STATUS = 2
FOR    UPDATE;

-- sql/fail_update_tape_recall.sql
-- fail: updates rows of TAPE_RECALL for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows TAPE_RECALL_GROUP (GRP)
-- arguments: 1: error, 2: list TaskID Since, 3: list TaskID Since, 4: list TaskID
UPDATE /* recallsq.Fail */ TAPE_RECALL
SET    (STATUS, WHY) = (
           SELECT 3, :1
           FROM   TAPE_RECALL held
           WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
           AND    TAPE_RECALL.GRP = held.GRP
           AND    ROWNUM = 1)
WHERE  (GRP) IN (
           SELECT held.GRP
           FROM   TAPE_RECALL held
           WHERE  ((held.TASK_ID = :v0 AND held.SINCE = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))))
AND    TAPE_RECALL.STATUS = 2
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/fail.sql
-- fail: running to failed
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID, 2: batch Since, 3: error
DECLARE /* recallsq.Fail */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 3,
               TRIES = TRIES + 1,
               WHY = :3
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 2;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID, 2: batch Since, 3: delay, 4: counts
DECLARE /* recallsq.Requeue */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 1,
               SINCE = NULL,
               DUE = CASE WHEN :3 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND') ELSE DUE END
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 2;
    FOR i IN 1 .. TASK_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID, 2: batch Since, 3: counts
DECLARE /* recallsq.Extend */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    SINCE = SYSTIMESTAMP
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 2;
    FOR i IN 1 .. TASK_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list TaskID
SELECT /* recallsq.Extend */
       TASK_ID, TO_CHAR(SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   TAPE_RECALL
WHERE  (TASK_ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, DUE, TASK_ID), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* recallsq.Recover */ TAPE_RECALL
SET    STATUS = 1,
       SINCE = NULL,
       TRIES = TRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TAPE_RECALL
           WHERE  STATUS = 2
           AND    TRIES < 4
           AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 2
AND    TRIES < 4
AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND');

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATUS, DUE, TASK_ID), which finds the rows that somebody has by STATUS
-- arguments: 1: limit, 2: cursor
DECLARE /* recallsq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   TAPE_RECALL
        WHERE  STATUS = 2
        AND    TRIES >= 4
        AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND')
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT TASK_ID
        FROM   TAPE_RECALL
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_failed_update_tape_recall.sql
-- recover_failed: updates rows of TAPE_RECALL for the rows that recover_failed_lock.sql locked, before recover_failed.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows TAPE_RECALL_GROUP (GRP)
-- arguments: 1: list TaskID, 2: list TaskID, 3: list TaskID
UPDATE /* recallsq.Recover */ TAPE_RECALL
SET    (STATUS, WHY) = (
           SELECT 3, 'the claim ran out'
           FROM   TAPE_RECALL held
           WHERE  (held.TASK_ID = :v0)
           AND    TAPE_RECALL.GRP = held.GRP
           AND    ROWNUM = 1)
WHERE  (GRP) IN (
           SELECT held.GRP
           FROM   TAPE_RECALL held
           WHERE  (held.TASK_ID = :v0))
AND    TAPE_RECALL.STATUS = 2
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch TaskID
DECLARE /* recallsq.Recover */
    TASK_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. TASK_ID_HELD.COUNT
        UPDATE TAPE_RECALL
        SET    STATUS = 3,
               TRIES = TRIES + 1,
               WHY = 'the claim ran out'
        WHERE  TASK_ID = TASK_ID_HELD(i)
        AND    STATUS = 2
        AND    TRIES >= 4;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, DUE, TASK_ID)
-- arguments: 1: limit
UPDATE /* recallsq.Redrive */ TAPE_RECALL
SET    STATUS = 1,
       SINCE = NULL,
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TAPE_RECALL
           WHERE  STATUS = 3
           AND    ROWNUM <= :1)
AND    STATUS = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, DUE, TASK_ID); it reads those that are not old enough as well, which one on (STATUS, SINCE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* recallsq.Purge */ FROM TAPE_RECALL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TAPE_RECALL
           WHERE  STATUS = 0
           AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 0
AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, DUE, TASK_ID); it reads those that are not old enough as well, which one on (STATUS, SINCE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* recallsq.Purge */ FROM TAPE_RECALL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TAPE_RECALL
           WHERE  STATUS = 3
           AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 3
AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Grp, 2: new Fname, 3: new Due, 4: new Weight, 5: new_key
INSERT /* recallsq.Enqueue */ INTO TAPE_RECALL
       (GRP, FNAME, DUE, WEIGHT)
VALUES (:1, :2,
        coalesce(TO_TIMESTAMP_TZ(:3, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), systimestamp),
        coalesce(:4, 0))
/* the new key */ RETURNING TASK_ID INTO :5;

-- sql/enqueue_delete_tape_recall.sql
-- enqueue: deletes rows from TAPE_RECALL for the rows that were added; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (FNAME)
-- arguments: 1: list TaskID, 2: list TaskID
DELETE /* recallsq.Enqueue */ FROM TAPE_RECALL
WHERE  (FNAME) IN (
           SELECT held.FNAME
           FROM   TAPE_RECALL held
           WHERE  (held.TASK_ID = :v0))
AND    TAPE_RECALL.STATUS = 1
AND    NOT (TAPE_RECALL.TASK_ID = :v0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* recallsq.Stats */
       count(CASE WHEN STATUS = 1 AND DUE <= SYSTIMESTAMP THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 2 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 0 THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 3 THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 1 AND DUE > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN STATUS = 2 AND SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATUS = 1 AND DUE <= SYSTIMESTAMP THEN DUE END)) AS DATE)) * 86400 AS OLDEST_READY,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATUS = 2 THEN SINCE END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   TAPE_RECALL;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, DUE, TASK_ID)
SELECT /* recallsq.Backlog */
       count(CASE WHEN DUE <= SYSTIMESTAMP THEN 1 END) AS READY,
       count(CASE WHEN DUE > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN DUE <= SYSTIMESTAMP THEN DUE END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   TAPE_RECALL
WHERE  STATUS = 1;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, DUE, TASK_ID)
-- arguments: 1: limit
SELECT /* recallsq.Peek */
       *
FROM   (
           SELECT TASK_ID, GRP, FNAME, TRIES,
                  TO_CHAR(DUE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), WEIGHT, WHY
           FROM   TAPE_RECALL
           WHERE  STATUS = 1
           AND    DUE <= SYSTIMESTAMP
           ORDER  BY DUE, TASK_ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* recallsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* recallsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'TASK_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'GRP', 'number' FROM DUAL UNION ALL
           SELECT 'FNAME', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATUS', 'number' FROM DUAL UNION ALL
           SELECT 'SINCE', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'DUE', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL UNION ALL
           SELECT 'WHY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TAPE_RECALL'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* recallsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'TAPE_RECALL_RECALLS_READY' AS name FROM DUAL UNION ALL
           SELECT 'TAPE_RECALL_RECALLS_OTHERS' FROM DUAL UNION ALL
           SELECT 'TAPE_RECALL_GROUP' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TAPE_RECALL'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX TAPE_RECALL_RECALLS_READY ON TAPE_RECALL (STATUS, DUE, TASK_ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- finds the rows of other jobs that a step writes
CREATE INDEX TAPE_RECALL_RECALLS_OTHERS ON TAPE_RECALL (FNAME) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- finds the rows of other jobs that a step writes: TAPE_RECALL_GROUP serves already
