-- Package deliveriesq uses the table DELIVERIES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates DELIVERIES_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: no Purge here deletes rows that are done: the queue walks over the same table may have them as ready. Delete rows where the last queue is done with them (done=delete there, or its Purge), or by a statement of your own where all are: DELETE FROM DELIVERIES WHERE STATUS = 0

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (CLIENT, STATUS); the ready rows are then sorted
-- arguments: 1: param client string, 2: limit, 3: cursor
DECLARE /* deliveriesq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(DELIVERIES DELIVERIES_READY) */ ROWIDTOCHAR(ROWID)
        FROM   DELIVERIES
        WHERE  (status = -2 or status > 0)
        AND    CLIENT = :1
        ORDER  BY ARRIVED, FILE_ID, CLIENT
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE DELIVERIES
        SET    STATUS = -1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT CLIENT, FILE_ID, TO_CHAR(ARRIVED, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   DELIVERIES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Client, 2: batch FileID, 3: counts
DECLARE /* deliveriesq.Complete */
    CLIENT_HELD DBMS_SQL.VARCHAR2A := :1;
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. CLIENT_HELD.COUNT
        UPDATE DELIVERIES
        SET    STATUS = 0
        WHERE  CLIENT = CLIENT_HELD(i)
        AND    FILE_ID = FILE_ID_HELD(i)
        AND    STATUS = -1;
    FOR i IN 1 .. CLIENT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Client, 2: batch FileID, 3: counts
DECLARE /* deliveriesq.Fail */
    CLIENT_HELD DBMS_SQL.VARCHAR2A := :1;
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. CLIENT_HELD.COUNT
        UPDATE DELIVERIES
        SET    STATUS = -2
        WHERE  CLIENT = CLIENT_HELD(i)
        AND    FILE_ID = FILE_ID_HELD(i)
        AND    STATUS = -1;
    FOR i IN 1 .. CLIENT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Client, 2: batch FileID, 3: counts
DECLARE /* deliveriesq.Requeue */
    CLIENT_HELD DBMS_SQL.VARCHAR2A := :1;
    FILE_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. CLIENT_HELD.COUNT
        UPDATE DELIVERIES
        SET    STATUS = -2
        WHERE  CLIENT = CLIENT_HELD(i)
        AND    FILE_ID = FILE_ID_HELD(i)
        AND    STATUS = -1;
    FOR i IN 1 .. CLIENT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Client, 2: new FileID, 3: new Arrived
INSERT /* deliveriesq.Enqueue */ INTO DELIVERIES
       (CLIENT, FILE_ID, ARRIVED)
VALUES (:1, :2, TO_TIMESTAMP(:3, 'YYYY-MM-DD HH24:MI:SS.FF9'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* deliveriesq.Stats */
       count(CASE WHEN (status = -2 or status > 0) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = -1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 0 THEN 1 END) AS DONE
FROM   DELIVERIES;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same CLIENT is for
-- locks: none
-- index: the primary key (CLIENT, FILE_ID)
-- arguments: 1: param client string
SELECT /* deliveriesq.StatsOf */
       count(CASE WHEN (status = -2 or status > 0) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = -1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 0 THEN 1 END) AS DONE
FROM   DELIVERIES
WHERE  CLIENT = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by CLIENT
-- locks: none
-- index: none; it reads the whole table
SELECT /* deliveriesq.Backlog */
       CLIENT,
       count(*) AS READY
FROM   DELIVERIES
WHERE  (status = -2 or status > 0)
GROUP  BY CLIENT
ORDER  BY CLIENT;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (CLIENT, STATUS); the ready rows are then sorted
-- arguments: 1: param client string, 2: limit
SELECT /* deliveriesq.Peek */
       *
FROM   (
           SELECT CLIENT, FILE_ID, TO_CHAR(ARRIVED, 'YYYY-MM-DD HH24:MI:SS.FF9')
           FROM   DELIVERIES
           WHERE  (status = -2 or status > 0)
           AND    CLIENT = :1
           ORDER  BY ARRIVED, FILE_ID, CLIENT
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* deliveriesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* deliveriesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'CLIENT' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'FILE_ID', 'number' FROM DUAL UNION ALL
           SELECT 'STATUS', 'number' FROM DUAL UNION ALL
           SELECT 'ARRIVED', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'DELIVERIES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* deliveriesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'DELIVERIES_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'DELIVERIES'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those
CREATE INDEX DELIVERIES_READY ON DELIVERIES (CLIENT, STATUS) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
