-- Package remarkq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: JOBS_HOST (HOST); the ready rows are then sorted
-- arguments: 1: param host string, 2: limit, 3: cursor
DECLARE /* remarkq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_HOST) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 'new'
        AND    HOST = :1
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, HOST, PRIORITY, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: given reason *string
DECLARE /* remarkq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE JOBS
        SET    REASON = :2
        WHERE  ID = ID_PICKED(i);
END;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* remarkq.Stats */
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 'new';

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same HOST is for
-- locks: none
-- index: JOBS_HOST (HOST); it reads others as well
-- arguments: 1: param host string
SELECT /* remarkq.StatsOf */
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 'new'
AND    HOST = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by HOST
-- locks: none
-- index: none; it reads the whole table
SELECT /* remarkq.Backlog */
       HOST,
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 'new'
GROUP  BY HOST
ORDER  BY HOST;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: JOBS_HOST (HOST); the ready rows are then sorted
-- arguments: 1: param host string, 2: limit
SELECT /* remarkq.Peek */
       *
FROM   (
           SELECT ID, HOST, PRIORITY, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
           FROM   JOBS
           WHERE  STATE = 'new'
           AND    HOST = :1
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* remarkq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* remarkq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'HOST', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp' FROM DUAL UNION ALL
           SELECT 'REASON', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* remarkq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOBS_HOST' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOBS'
           AND    have.index_name = want.name);

-- serves Claim: the rows of each value that is asked for, which are then sorted; rows that are not ready are read and passed over: JOBS_HOST serves already
