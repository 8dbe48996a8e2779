-- Package callsq uses the table CALLS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes HISTORY (Claim, Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates CALLS_READY.
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
-- note: no order is said: rows are taken in the order of the key, ID
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* callsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(CALLS CALLS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   CALLS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE CALLS
        SET    STATE = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID
        FROM   CALLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_update_history.sql
-- claim: updates rows of HISTORY for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key; of HISTORY one that begins with CALL_ID
-- arguments: 1: given by int, 2: list ID, 3: list ID
UPDATE /* callsq.Claim */ HISTORY
SET    (TRIED) = (
           SELECT (history.tried + :1)
           FROM   CALLS held
           WHERE  (held.ID = :v0)
           AND    HISTORY.CALL_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (CALL_ID) IN (
           SELECT held.ID
           FROM   CALLS held
           WHERE  (held.ID = :v0));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* callsq.Complete */
       ID
FROM   CALLS
WHERE  (ID = :v0)
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete_update_history.sql
-- complete: updates rows of HISTORY for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of HISTORY one that begins with CALL_ID
-- arguments: 1: list ID Line, 2: list ID Code, 3: list ID Keep, 4: list ID, 5: list ID
UPDATE /* callsq.Complete */ HISTORY
SET    (LOG, CODE, KEEP_TO) = (
           SELECT (history.log || CASE WHEN held.ID = :v0 THEN (:v0) END), (CASE WHEN held.ID = :v0 THEN ((:v0)) END), SYSTIMESTAMP + NUMTODSINTERVAL(CASE WHEN held.ID = :v0 THEN (((:v0))) END, 'SECOND')
           FROM   CALLS held
           WHERE  (held.ID = :v0)
           AND    HISTORY.CALL_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (CALL_ID) IN (
           SELECT held.ID
           FROM   CALLS held
           WHERE  (held.ID = :v0));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Code
DECLARE /* callsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CODE_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'done',
               CODE = CODE_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* callsq.Fail */
       ID
FROM   CALLS
WHERE  (ID = :v0)
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail_update_history.sql
-- fail: updates rows of HISTORY for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of HISTORY one that begins with CALL_ID
-- arguments: 1: given why string, 2: given keep time.Duration, 3: list ID, 4: list ID
UPDATE /* callsq.Fail */ HISTORY
SET    (LOG, KEEP_TO) = (
           SELECT (history.log || :1), SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND')
           FROM   CALLS held
           WHERE  (held.ID = :v0)
           AND    HISTORY.CALL_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (CALL_ID) IN (
           SELECT held.ID
           FROM   CALLS held
           WHERE  (held.ID = :v0));

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* callsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'failed'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* callsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'new'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* callsq.Redrive */ CALLS
SET    STATE = 'new'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CALLS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* callsq.Purge */ FROM CALLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CALLS
           WHERE  STATE = 'done'
           AND    ROWNUM <= :1)
AND    STATE = 'done';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* callsq.Purge */ FROM CALLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CALLS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* callsq.Enqueue */ INTO CALLS
       (ID, STATE)
VALUES (:1, 'new');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'done' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED
FROM   CALLS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* callsq.Backlog */
       count(*) AS READY
FROM   CALLS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* callsq.Peek */
       *
FROM   (
           SELECT ID
           FROM   CALLS
           WHERE  STATE = 'new'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CODE', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CALLS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of HISTORY
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'TRIED' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'CALL_ID', 'number' FROM DUAL UNION ALL
           SELECT 'LOG', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CODE', 'number' FROM DUAL UNION ALL
           SELECT 'KEEP_TO', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'HISTORY'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'CALLS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'CALLS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CALLS_READY ON CALLS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
