-- Package urlsq uses the table URLS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates URLS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: rows are taken as they came, by column "ID"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (PROCESSED, JOB, ID)
-- arguments: 1: param jobValue int64, 2: limit, 3: cursor
DECLARE /* urlsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(URLS URLS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   URLS
        WHERE  PROCESSED = 0
        AND    JOB = :1
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, JOB, URI
        FROM   URLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* urlsq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE URLS
        SET    PROCESSED = 1,
               SEEN = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ID = ID_PICKED(i);
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (PROCESSED, JOB, ID); it reads those that are not old enough as well, which one on (PROCESSED, SEEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* urlsq.Purge */ FROM URLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   URLS
           WHERE  PROCESSED = 1
           AND    SEEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    PROCESSED = 1
AND    SEEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Job, 2: new URI, 3: new_key
INSERT /* urlsq.Enqueue */ INTO URLS
       (JOB, URI)
VALUES (:1, :2)
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(CASE WHEN PROCESSED = 0 THEN 1 END) AS READY,
       count(CASE WHEN PROCESSED = 1 THEN 1 END) AS DONE
FROM   URLS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same JOB is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param jobValue int64
SELECT /* urlsq.StatsOf */
       count(CASE WHEN PROCESSED = 0 THEN 1 END) AS READY,
       count(CASE WHEN PROCESSED = 1 THEN 1 END) AS DONE
FROM   URLS
WHERE  JOB = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by JOB
-- locks: none
-- index: (PROCESSED, JOB, ID)
SELECT /* urlsq.Backlog */
       JOB,
       count(*) AS READY
FROM   URLS
WHERE  PROCESSED = 0
GROUP  BY JOB
ORDER  BY JOB;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (PROCESSED, JOB, ID)
-- arguments: 1: param jobValue int64, 2: limit
SELECT /* urlsq.Peek */
       *
FROM   (
           SELECT ID, JOB, URI
           FROM   URLS
           WHERE  PROCESSED = 0
           AND    JOB = :1
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'JOB', 'number' FROM DUAL UNION ALL
           SELECT 'URI', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PROCESSED', 'number' FROM DUAL UNION ALL
           SELECT 'SEEN', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'URLS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'URLS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'URLS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX URLS_READY ON URLS (PROCESSED, JOB, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
