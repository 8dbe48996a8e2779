-- Package retireq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOBS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: param before time.Time, 2: limit, 3: cursor
DECLARE /* retireq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 'new'
        AND    (made < TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, REASON
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* retireq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE JOBS
        SET    STATE = 'retired'
        WHERE  ID = ID_PICKED(i);
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
DELETE /* retireq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 'retired'
           AND    ROWNUM <= :1)
AND    STATE = 'retired';

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* retireq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'retired' THEN 1 END) AS DONE
FROM   JOBS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID, RUN_AT)
SELECT /* retireq.Backlog */
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: param before time.Time, 2: limit
SELECT /* retireq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, REASON
           FROM   JOBS
           WHERE  STATE = 'new'
           AND    (made < TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* retireq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* retireq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MADE', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
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
SELECT /* retireq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOBS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOBS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
-- jobsq advises the same
CREATE INDEX JOBS_READY ON JOBS (STATE, ID, RUN_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
