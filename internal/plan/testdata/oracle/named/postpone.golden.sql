-- Package postponeq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
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
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here
-- note: rows without a value in column "RUN_AT" stand last in the order, where Oracle puts nulls (nulls=first puts them first)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: param id int64, 2: limit, 3: cursor
DECLARE /* postponeq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 'new'
        AND    ID = :1
        ORDER  BY RUN_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: given atValue *time.Time
DECLARE /* postponeq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE JOBS
        SET    STATE = 'new',
               RUN_AT = TO_TIMESTAMP_TZ(:2, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads the rows as they are written
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* postponeq.Claim */
       ID, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, REASON
FROM   JOBS
WHERE  (ID = :v0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* postponeq.Stats */
       count(*) AS READY
FROM   JOBS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: param id int64, 2: limit
SELECT /* postponeq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, REASON
           FROM   JOBS
           WHERE  STATE = 'new'
           AND    ID = :1
           ORDER  BY RUN_AT, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* postponeq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* postponeq.Verify */
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
