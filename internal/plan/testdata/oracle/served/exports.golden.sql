-- Package exportsq uses the table EXPORTS as a queue of jobs on Oracle 19 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates EXPORTS_READY.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, DEVICE, DUE_AT); the ready rows are then sorted
-- arguments: 1: param device string, 2: limit, 3: cursor
DECLARE /* exportsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EXPORTS EXPORTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EXPORTS
        WHERE  STATE IN (0, 6)
        AND    DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
        AND    DEVICE = :1
        ORDER  BY DUE_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE EXPORTS
        SET    STATE = 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, DEVICE, TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   EXPORTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* exportsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 2
        WHERE  ID = ID_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* exportsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 3
        WHERE  ID = ID_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: delay, 3: counts
DECLARE /* exportsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 0,
               DUE_AT = CASE WHEN :2 > 0.0 THEN SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:2, 'SECOND') ELSE DUE_AT END
        WHERE  ID = ID_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, DEVICE, DUE_AT)
-- arguments: 1: limit
UPDATE /* exportsq.Redrive */ EXPORTS
SET    STATE = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 3
           AND    ROWNUM <= :1)
AND    STATE = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, DEVICE, DUE_AT)
-- arguments: 1: limit
DELETE /* exportsq.Purge */ FROM EXPORTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 2
           AND    ROWNUM <= :1)
AND    STATE = 2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, DEVICE, DUE_AT)
-- arguments: 1: limit
DELETE /* exportsq.Purge */ FROM EXPORTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 3
           AND    ROWNUM <= :1)
AND    STATE = 3;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Device, 2: new DueAt
INSERT /* exportsq.Enqueue */ INTO EXPORTS
       (ID, DEVICE, STATE, DUE_AT)
VALUES ((exports_seq.NEXTVAL), :1, 0,
        coalesce(TO_TIMESTAMP(:2, 'YYYY-MM-DD HH24:MI:SS.FF9'), SYS_EXTRACT_UTC(SYSTIMESTAMP)));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* exportsq.Stats */
       count(CASE WHEN STATE IN (0, 6) AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE IN (0, 6) AND DUE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATE IN (0, 6) AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN DUE_AT END) AS DATE)) * 86400 AS OLDEST_READY
FROM   EXPORTS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same DEVICE is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param device string
SELECT /* exportsq.StatsOf */
       count(CASE WHEN STATE IN (0, 6) AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE IN (0, 6) AND DUE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATE IN (0, 6) AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN DUE_AT END) AS DATE)) * 86400 AS OLDEST_READY
FROM   EXPORTS
WHERE  DEVICE = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by DEVICE
-- locks: none
-- index: (STATE, DEVICE, DUE_AT)
SELECT /* exportsq.Backlog */
       DEVICE,
       count(CASE WHEN DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN DUE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN DUE_AT END) AS DATE)) * 86400 AS OLDEST_READY
FROM   EXPORTS
WHERE  STATE IN (0, 6)
GROUP  BY DEVICE
ORDER  BY DEVICE;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, DEVICE, DUE_AT); the ready rows are then sorted
-- arguments: 1: param device string, 2: limit
SELECT /* exportsq.Peek */
       *
FROM   (
           SELECT ID, DEVICE, TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9')
           FROM   EXPORTS
           WHERE  STATE IN (0, 6)
           AND    DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    DEVICE = :1
           ORDER  BY DUE_AT, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* exportsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* exportsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'DEVICE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'DUE_AT', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EXPORTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* exportsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EXPORTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EXPORTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those
CREATE INDEX EXPORTS_READY ON EXPORTS (STATE, DEVICE, DUE_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
