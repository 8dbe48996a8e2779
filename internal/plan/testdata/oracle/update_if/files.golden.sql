-- Package filesq uses the table FILES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates FILES_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, FILE_ID, DATA_TYPE
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in FILE_ID, DATA_TYPE (primary key), where (is_deleted = 0), and leaves it alone where that does not hold: BUCKET = {bucket}, PENDING = 'yes'
-- note: warning: enqueue=update takes a job that runs from its worker, since qgen:on update writes column PENDING: it may be claimed again while the first still has it, who then gets ErrLost

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (PENDING, IS_DELETED, FILE_ID, DATA_TYPE)
-- arguments: 1: limit, 2: cursor
DECLARE /* filesq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(FILES FILES_READY) */ ROWIDTOCHAR(ROWID)
        FROM   FILES
        WHERE  PENDING = 'yes'
        AND    (is_deleted = 0)
        ORDER  BY FILE_ID, DATA_TYPE
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE FILES
        SET    SYNCED = SYS_EXTRACT_UTC(SYSTIMESTAMP),
               PENDING = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT FILE_ID, DATA_TYPE, BUCKET, TO_CHAR(SYNCED, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   FILES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: SYNCED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced, 4: counts
DECLARE /* filesq.Complete */
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DATA_TYPE_HELD DBMS_SQL.VARCHAR2A := :2;
    SYNCED_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. FILE_ID_HELD.COUNT
        UPDATE FILES
        SET    PENDING = 'no'
        WHERE  FILE_ID = FILE_ID_HELD(i)
        AND    DATA_TYPE = DATA_TYPE_HELD(i)
        AND    SYNCED = TO_TIMESTAMP(SYNCED_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    PENDING = 'busy';
    FOR i IN 1 .. FILE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: SYNCED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced, 4: counts
DECLARE /* filesq.Fail */
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DATA_TYPE_HELD DBMS_SQL.VARCHAR2A := :2;
    SYNCED_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. FILE_ID_HELD.COUNT
        UPDATE FILES
        SET    SYNCED = NULL,
               PENDING = 'yes'
        WHERE  FILE_ID = FILE_ID_HELD(i)
        AND    DATA_TYPE = DATA_TYPE_HELD(i)
        AND    SYNCED = TO_TIMESTAMP(SYNCED_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    PENDING = 'busy';
    FOR i IN 1 .. FILE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: SYNCED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced, 4: counts
DECLARE /* filesq.Requeue */
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DATA_TYPE_HELD DBMS_SQL.VARCHAR2A := :2;
    SYNCED_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. FILE_ID_HELD.COUNT
        UPDATE FILES
        SET    SYNCED = NULL,
               PENDING = 'yes'
        WHERE  FILE_ID = FILE_ID_HELD(i)
        AND    DATA_TYPE = DATA_TYPE_HELD(i)
        AND    SYNCED = TO_TIMESTAMP(SYNCED_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    PENDING = 'busy';
    FOR i IN 1 .. FILE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: SYNCED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch FileID, 2: batch DataType, 3: batch Synced, 4: counts
DECLARE /* filesq.Extend */
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DATA_TYPE_HELD DBMS_SQL.VARCHAR2A := :2;
    SYNCED_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. FILE_ID_HELD.COUNT
        UPDATE FILES
        SET    SYNCED = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  FILE_ID = FILE_ID_HELD(i)
        AND    DATA_TYPE = DATA_TYPE_HELD(i)
        AND    SYNCED = TO_TIMESTAMP(SYNCED_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    PENDING = 'busy';
    FOR i IN 1 .. FILE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list FileID DataType
SELECT /* filesq.Extend */
       FILE_ID, DATA_TYPE, TO_CHAR(SYNCED, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   FILES
WHERE  ((FILE_ID = :v0 AND DATA_TYPE = :v0));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (PENDING, IS_DELETED, FILE_ID, DATA_TYPE), which finds the rows that somebody has by PENDING
-- arguments: 1: limit
UPDATE /* filesq.Recover */ FILES
SET    SYNCED = NULL,
       PENDING = 'yes'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   FILES
           WHERE  PENDING = 'busy'
           AND    (is_deleted = 0)
           AND    SYNCED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND')
           AND    ROWNUM <= :1)
AND    PENDING = 'busy'
AND    (is_deleted = 0)
AND    SYNCED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND');

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (PENDING, IS_DELETED, FILE_ID, DATA_TYPE); it reads those that are not old enough as well
-- arguments: 1: older, 2: limit, 3: older
DELETE /* filesq.Purge */ FROM FILES
WHERE  ROWID IN (
           SELECT ROWID
           FROM   FILES
           WHERE  PENDING = 'no'
           AND    (is_deleted = 0)
           AND    SYNCED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    PENDING = 'no'
AND    (is_deleted = 0)
AND    SYNCED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in FILE_ID, DATA_TYPE (primary key)
-- locks: the row, until commit; waits for who has it locked
-- index: FILE_ID, DATA_TYPE
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       FILE_ID, DATA_TYPE
FROM   FILES
WHERE  FILE_ID = :1
AND    DATA_TYPE = :2
FOR    UPDATE;

-- sql/enqueue_check.sql
-- enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone
-- locks: nothing more
-- index: FILE_ID, DATA_TYPE
-- arguments: 1: new FileID, 2: new DataType
SELECT /* filesq.Enqueue */
       FILE_ID, DATA_TYPE
FROM   FILES
WHERE  FILE_ID = :1
AND    DATA_TYPE = :2
AND    (is_deleted = 0)
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: FILE_ID, DATA_TYPE
-- arguments: 1: new Bucket, 2: new FileID, 3: new DataType
UPDATE /* filesq.Enqueue */ FILES
SET    BUCKET = :1,
       PENDING = 'yes'
WHERE  FILE_ID = :2
AND    DATA_TYPE = :3;

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new FileID, 2: new DataType, 3: new Bucket
INSERT /* filesq.Enqueue */ INTO FILES
       (FILE_ID, DATA_TYPE, BUCKET)
VALUES (:1, :2, :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* filesq.Stats */
       count(CASE WHEN PENDING = 'yes' THEN 1 END) AS READY,
       count(CASE WHEN PENDING = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN PENDING = 'no' THEN 1 END) AS DONE,
       count(CASE WHEN PENDING = 'busy' AND SYNCED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN PENDING = 'busy' THEN SYNCED END) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   FILES
WHERE  (is_deleted = 0);

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (PENDING, IS_DELETED, FILE_ID, DATA_TYPE)
SELECT /* filesq.Backlog */
       count(*) AS READY
FROM   FILES
WHERE  PENDING = 'yes'
AND    (is_deleted = 0);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (PENDING, IS_DELETED, FILE_ID, DATA_TYPE)
-- arguments: 1: limit
SELECT /* filesq.Peek */
       *
FROM   (
           SELECT FILE_ID, DATA_TYPE, BUCKET
           FROM   FILES
           WHERE  PENDING = 'yes'
           AND    (is_deleted = 0)
           ORDER  BY FILE_ID, DATA_TYPE
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'FILE_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'DATA_TYPE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BUCKET', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SYNCED', 'timestamp' FROM DUAL UNION ALL
           SELECT 'PENDING', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'FILES_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'FILES'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX FILES_READY ON FILES (PENDING, IS_DELETED, FILE_ID, DATA_TYPE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
