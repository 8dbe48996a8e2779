-- Package checksq uses the table CHECKS as a queue of jobs on Oracle 19 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates CHECKS_READY.
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
-- index: (STATUS, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* checksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(CHECKS CHECKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   CHECKS
        WHERE  STATUS = 0
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE CHECKS
        SET    STATUS = 1,
               VERSION = VERSION + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, VERSION, PROBLEM
        FROM   CHECKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: parts Outcome, 4: part_of Outcome, 5: batch Digest, 6: batch Word, 7: counts
DECLARE /* checksq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    OUTCOME_PART DBMS_SQL.VARCHAR2A := :3;
    OUTCOME_OF DBMS_SQL.NUMBER_TABLE := :4;
    DIGEST_HELD raws := :5;
    WORD_HELD DBMS_SQL.VARCHAR2A := :6;
    OUTCOME_HELD DBMS_SQL.CLOB_TABLE;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FOR i IN 1 .. OUTCOME_PART.COUNT LOOP
        IF OUTCOME_HELD.EXISTS(OUTCOME_OF(i)) THEN
            DBMS_LOB.APPEND(OUTCOME_HELD(OUTCOME_OF(i)), TO_CLOB(OUTCOME_PART(i)));
        ELSE
            OUTCOME_HELD(OUTCOME_OF(i)) := TO_CLOB(OUTCOME_PART(i));
        END IF;
    END LOOP;
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CHECKS
        SET    STATUS = 2,
               VERSION = VERSION + 1,
               OUTCOME = SUBSTR(OUTCOME_HELD(i), 1, 100000),
               DIGEST = DIGEST_HELD(i),
               WORD = WORD_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATUS = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :7 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: error, 4: counts
DECLARE /* checksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CHECKS
        SET    STATUS = 3,
               VERSION = VERSION + 1,
               PROBLEM = :3
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATUS = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* checksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CHECKS
        SET    STATUS = 0,
               VERSION = VERSION + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATUS = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
UPDATE /* checksq.Redrive */ CHECKS
SET    STATUS = 0,
       VERSION = VERSION + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CHECKS
           WHERE  STATUS = 3
           AND    ROWNUM <= :1)
AND    STATUS = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* checksq.Purge */ FROM CHECKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CHECKS
           WHERE  STATUS = 2
           AND    ROWNUM <= :1)
AND    STATUS = 2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* checksq.Purge */ FROM CHECKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CHECKS
           WHERE  STATUS = 3
           AND    ROWNUM <= :1)
AND    STATUS = 3;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* checksq.Enqueue */ INTO CHECKS
       (ID)
VALUES (:1);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* checksq.Stats */
       count(CASE WHEN STATUS = 0 THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 3 THEN 1 END) AS FAILED
FROM   CHECKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, ID)
SELECT /* checksq.Backlog */
       count(*) AS READY
FROM   CHECKS
WHERE  STATUS = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* checksq.Peek */
       *
FROM   (
           SELECT ID, VERSION, PROBLEM
           FROM   CHECKS
           WHERE  STATUS = 0
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* checksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* checksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'number' FROM DUAL UNION ALL
           SELECT 'VERSION', 'number' FROM DUAL UNION ALL
           SELECT 'OUTCOME', 'clob' FROM DUAL UNION ALL
           SELECT 'DIGEST', 'raw' FROM DUAL UNION ALL
           SELECT 'WORD', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PROBLEM', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CHECKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* checksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'CHECKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'CHECKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CHECKS_READY ON CHECKS (STATUS, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
