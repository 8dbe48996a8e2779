-- Package requestsq uses the table REQUESTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: tries are counted in column "TRIES" when they begin (on=claim)
-- note: on retry, column "STATUS" gets 'RETRYING' as qgen:on says, not 'QUEUED' as qgen:status would
-- note: the fence is the count in column "TRIES" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: REQUESTS_STATUS (STATUS); the ready rows are then sorted
-- arguments: 1: limit, 2: cursor
DECLARE /* requestsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(REQUESTS REQUESTS_STATUS) */ ROWIDTOCHAR(ROWID)
        FROM   REQUESTS
        WHERE  STATUS IN ('QUEUED', 'RETRYING')
        ORDER  BY PRIORITY DESC, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'RUNNING',
               TRIES = TRIES + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, PRIORITY, TRIES, DATA
        FROM   REQUESTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* requestsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'DONE'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* requestsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'RETRYING'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* requestsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'ERROR'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* requestsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'QUEUED',
               TRIES = TRIES - 1
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: REQUESTS_STATUS (STATUS)
-- arguments: 1: limit
UPDATE /* requestsq.Redrive */ REQUESTS
SET    STATUS = 'QUEUED',
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'ERROR'
           AND    ROWNUM <= :1)
AND    STATUS = 'ERROR';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: REQUESTS_STATUS (STATUS)
-- arguments: 1: limit
DELETE /* requestsq.Purge */ FROM REQUESTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'DONE'
           AND    ROWNUM <= :1)
AND    STATUS = 'DONE';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: REQUESTS_STATUS (STATUS)
-- arguments: 1: limit
DELETE /* requestsq.Purge */ FROM REQUESTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'ERROR'
           AND    ROWNUM <= :1)
AND    STATUS = 'ERROR';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Priority, 3: new Data
INSERT /* requestsq.Enqueue */ INTO REQUESTS
       (ID, STATUS, PRIORITY, TRIES, DATA)
VALUES (:1, 'QUEUED', :2, 0, :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* requestsq.Stats */
       count(CASE WHEN STATUS IN ('QUEUED', 'RETRYING') THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'RUNNING' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'ERROR' THEN 1 END) AS FAILED
FROM   REQUESTS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: REQUESTS_STATUS (STATUS)
SELECT /* requestsq.Backlog */
       count(*) AS READY
FROM   REQUESTS
WHERE  STATUS IN ('QUEUED', 'RETRYING');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: REQUESTS_STATUS (STATUS); the ready rows are then sorted
-- arguments: 1: limit
SELECT /* requestsq.Peek */
       *
FROM   (
           SELECT ID, PRIORITY, TRIES, DATA
           FROM   REQUESTS
           WHERE  STATUS IN ('QUEUED', 'RETRYING')
           ORDER  BY PRIORITY DESC, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* requestsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* requestsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'DATA', 'blob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'REQUESTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* requestsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'REQUESTS_STATUS' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'REQUESTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those: REQUESTS_STATUS serves already
