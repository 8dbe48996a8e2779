-- Package ownedq uses the table OWNED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker starts again
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until a worker of its name starts; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates OWNED_READY.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (NODEID, JOBID); the ready rows are then sorted
-- arguments: 1: limit, 2: worker Nodeid, 3: cursor
DECLARE /* ownedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(OWNED OWNED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   OWNED
        WHERE  NODEID IS NULL
        ORDER  BY DBMS_RANDOM.VALUE
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE OWNED
        SET    NODEID = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT JOBID, NODEID
        FROM   OWNED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: NODEID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Jobid, 2: batch Nodeid, 3: counts
DECLARE /* ownedq.Complete */
    JOBID_HELD DBMS_SQL.VARCHAR2A := :1;
    NODEID_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOBID_HELD.COUNT
        DELETE FROM OWNED
        WHERE  JOBID = JOBID_HELD(i)
        AND    NODEID = NODEID_HELD(i)
        AND    NODEID IS NOT NULL;
    FOR i IN 1 .. JOBID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: NODEID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Jobid, 2: batch Nodeid, 3: counts
DECLARE /* ownedq.Fail */
    JOBID_HELD DBMS_SQL.VARCHAR2A := :1;
    NODEID_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOBID_HELD.COUNT
        DELETE FROM OWNED
        WHERE  JOBID = JOBID_HELD(i)
        AND    NODEID = NODEID_HELD(i)
        AND    NODEID IS NOT NULL;
    FOR i IN 1 .. JOBID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: NODEID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Jobid, 2: batch Nodeid, 3: counts
DECLARE /* ownedq.Requeue */
    JOBID_HELD DBMS_SQL.VARCHAR2A := :1;
    NODEID_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOBID_HELD.COUNT
        UPDATE OWNED
        SET    NODEID = NULL
        WHERE  JOBID = JOBID_HELD(i)
        AND    NODEID = NODEID_HELD(i)
        AND    NODEID IS NOT NULL;
    FOR i IN 1 .. JOBID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: running by this worker to ready, when it starts
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: OWNED_NODEID (NODEID)
-- arguments: 1: worker Nodeid, 2: limit, 3: worker Nodeid
UPDATE /* ownedq.Recover */ OWNED
SET    NODEID = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   OWNED
           WHERE  NODEID IS NOT NULL
           AND    NODEID = :1
           AND    ROWNUM <= :2)
AND    NODEID IS NOT NULL
AND    NODEID = :3;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Jobid
INSERT /* ownedq.Enqueue */ INTO OWNED
       (JOBID)
VALUES (:1);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ownedq.Stats */
       count(CASE WHEN NODEID IS NULL THEN 1 END) AS READY,
       count(CASE WHEN NODEID IS NOT NULL THEN 1 END) AS RUNNING
FROM   OWNED;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (NODEID, JOBID); the ready rows are then sorted
-- arguments: 1: limit
SELECT /* ownedq.Peek */
       *
FROM   (
           SELECT JOBID
           FROM   OWNED
           WHERE  NODEID IS NULL
           ORDER  BY DBMS_RANDOM.VALUE
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ownedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ownedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'JOBID' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'NODEID', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'OWNED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ownedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'OWNED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'OWNED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted: no index gives their order
CREATE INDEX OWNED_READY ON OWNED (NODEID, JOBID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
