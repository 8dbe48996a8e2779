-- Package dropq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: JOBS_HOST (HOST); the ready rows are then sorted
-- arguments: 1: param host string, 2: limit, 3: cursor
DECLARE /* dropq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  ROWID IN (
                   SELECT picked_row
                   FROM   (
                              SELECT /*+ INDEX(JOBS JOBS_HOST) */ ROWID AS picked_row
                              FROM   JOBS
                              WHERE  HOST = :1
                              ORDER  BY ID
                          )
                   WHERE  ROWNUM <= :2)
        AND    HOST = :1
        FOR    UPDATE;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, HOST, STATE, PRIORITY, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9'),
               REASON
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* dropq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        DELETE FROM JOBS
        WHERE  ID = ID_PICKED(i);
END;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Stats */
       count(*) AS READY
FROM   JOBS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same HOST is for
-- locks: none
-- index: JOBS_HOST (HOST)
-- arguments: 1: param host string
SELECT /* dropq.StatsOf */
       count(*) AS READY
FROM   JOBS
WHERE  HOST = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by HOST
-- locks: none
-- index: none; it reads the whole table
SELECT /* dropq.Backlog */
       HOST,
       count(*) AS READY
FROM   JOBS
GROUP  BY HOST
ORDER  BY HOST;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: JOBS_HOST (HOST); the ready rows are then sorted
-- arguments: 1: param host string, 2: limit
SELECT /* dropq.Peek */
       *
FROM   (
           SELECT ID, HOST, STATE, PRIORITY, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9'),
                  REASON
           FROM   JOBS
           WHERE  HOST = :1
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* dropq.Verify */
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
SELECT /* dropq.Verify */
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

-- serves Claim: ready rows, which are then sorted: JOBS_HOST serves already
