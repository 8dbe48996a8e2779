-- Package partsq uses the table PARTS as a queue of jobs on Oracle 19 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates PARTS_READY.
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
-- note: the key is HOST, PART: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: no order is said: rows are taken in the order of the key, HOST, PART
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, KIND, HOST, PART)
-- arguments: 1: limit, 2: cursor
DECLARE /* partsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PARTS PARTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PARTS
        WHERE  STATE = 0
        AND    (part > 0 and kind = 'part')
        ORDER  BY HOST, PART
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PARTS
        SET    STATE = 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT HOST, PART
        FROM   PARTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Host, 2: batch Part, 3: counts
DECLARE /* partsq.Complete */
    HOST_HELD DBMS_SQL.VARCHAR2A := :1;
    PART_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. HOST_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 2
        WHERE  HOST = HOST_HELD(i)
        AND    PART = PART_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. HOST_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Host, 2: batch Part, 3: counts
DECLARE /* partsq.Fail */
    HOST_HELD DBMS_SQL.VARCHAR2A := :1;
    PART_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. HOST_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 3
        WHERE  HOST = HOST_HELD(i)
        AND    PART = PART_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. HOST_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Host, 2: batch Part, 3: counts
DECLARE /* partsq.Requeue */
    HOST_HELD DBMS_SQL.VARCHAR2A := :1;
    PART_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. HOST_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 0
        WHERE  HOST = HOST_HELD(i)
        AND    PART = PART_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. HOST_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, HOST, PART); it reads others as well
-- arguments: 1: limit
UPDATE /* partsq.Redrive */ PARTS
SET    STATE = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 3
           AND    (part > 0 and kind = 'part')
           AND    ROWNUM <= :1)
AND    STATE = 3
AND    (part > 0 and kind = 'part');

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, HOST, PART); it reads others as well
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM PARTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 2
           AND    (part > 0 and kind = 'part')
           AND    ROWNUM <= :1)
AND    STATE = 2
AND    (part > 0 and kind = 'part');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, HOST, PART); it reads others as well
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM PARTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 3
           AND    (part > 0 and kind = 'part')
           AND    ROWNUM <= :1)
AND    STATE = 3
AND    (part > 0 and kind = 'part');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Host, 2: new Part
INSERT /* partsq.Enqueue */ INTO PARTS
       (HOST, PART, KIND, STATE)
VALUES (:1, :2, 'part', 0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN STATE = 0 THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 THEN 1 END) AS FAILED
FROM   PARTS
WHERE  (part > 0 and kind = 'part');

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, KIND, HOST, PART); it reads others as well
SELECT /* partsq.Backlog */
       count(*) AS READY
FROM   PARTS
WHERE  STATE = 0
AND    (part > 0 and kind = 'part');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, KIND, HOST, PART)
-- arguments: 1: limit
SELECT /* partsq.Peek */
       *
FROM   (
           SELECT HOST, PART
           FROM   PARTS
           WHERE  STATE = 0
           AND    (part > 0 and kind = 'part')
           ORDER  BY HOST, PART
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'HOST' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'PART', 'number' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL
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
SELECT /* partsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PARTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PARTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PARTS_READY ON PARTS (STATE, KIND, HOST, PART) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
