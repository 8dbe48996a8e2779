-- Package datedq uses the table DATED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> (deleted)
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates DATED_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  no side table is asked for
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again
-- note: rows without a value in column "DUE" stand last in the order, where Oracle puts nulls (nulls=first puts them first)

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (DONE, DUE, ID)
-- arguments: 1: held_list ID, 2: limit, 3: cursor
DECLARE /* datedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(DATED DATED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   DATED
        WHERE  DONE IS NULL
AND    NOT (ID = :v0)
        ORDER  BY DUE, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, TO_CHAR(DUE, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   DATED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* datedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE DATED
        SET    DONE = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ID = ID_HELD(i)
        AND    DONE IS NULL;
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
DECLARE /* datedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM DATED
        WHERE  ID = ID_HELD(i)
        AND    DONE IS NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: DATED_DONE (DONE, DUE)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* datedq.Purge */ FROM DATED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   DATED
           WHERE  DONE IS NOT NULL
           AND    DONE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    DONE IS NOT NULL
AND    DONE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Due
INSERT /* datedq.Enqueue */ INTO DATED
       (ID, DUE)
VALUES (:1, TO_TIMESTAMP(:2, 'YYYY-MM-DD HH24:MI:SS.FF9'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* datedq.Stats */
       count(CASE WHEN DONE IS NULL THEN 1 END) AS READY,
       count(CASE WHEN DONE IS NOT NULL THEN 1 END) AS DONE
FROM   DATED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (DONE, DUE, ID)
SELECT /* datedq.Backlog */
       count(*) AS READY
FROM   DATED
WHERE  DONE IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (DONE, DUE, ID)
-- arguments: 1: limit
SELECT /* datedq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(DUE, 'YYYY-MM-DD HH24:MI:SS.FF9')
           FROM   DATED
           WHERE  DONE IS NULL
           ORDER  BY DUE, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* datedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* datedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'DUE', 'timestamp' FROM DUAL UNION ALL
           SELECT 'DONE', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'DATED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* datedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'DATED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'DATED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX DATED_READY ON DATED (DONE, DUE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
