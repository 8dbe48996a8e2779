-- Package plansq uses the table PLANS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> ready or not, by what it writes to RUN_AT
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes PLAN_RUNS (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PLANS_READY.
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

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (RUN_AT, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* plansq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PLANS PLANS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PLANS
        WHERE  RUN_AT <= SYSTIMESTAMP
        AND    (not exists (select 1 from plan_runs r where r.plan_id = PLANS.id and r.state = 'running'))
        ORDER  BY RUN_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   PLANS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_again.sql
-- claim: those of the rows that are ready still, as claims before it have left other tables
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* plansq.Claim */
       ID
FROM   PLANS
WHERE  (ID = :v0)
AND    (not exists (select 1 from plan_runs r where r.plan_id = PLANS.id and r.state = 'running'));

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay; RUN_AT tells whether they are ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* plansq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE PLANS
        SET    RUN_AT = (run_at - interval '1' second)
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads the rows as they are written
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* plansq.Claim */
       ID, NAME, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   PLANS
WHERE  (ID = :v0);

-- sql/claim_insert_plan_runs.sql
-- claim: inserts rows into PLAN_RUNS for the rows that claim_lock.sql locked, before claim.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* plansq.Claim */ INTO PLAN_RUNS
       (PLAN_ID, STATE)
SELECT held.ID, 'running'
FROM   PLANS held
WHERE  (held.ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Name, 3: new RunAt
INSERT /* plansq.Enqueue */ INTO PLANS
       (ID, NAME, RUN_AT)
VALUES (:1, :2,
        coalesce(TO_TIMESTAMP_TZ(:3, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), SYSTIMESTAMP));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* plansq.Stats */
       count(CASE WHEN RUN_AT <= SYSTIMESTAMP AND (not exists (select 1 from plan_runs r where r.plan_id = PLANS.id and r.state = 'running')) THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN RUN_AT <= SYSTIMESTAMP AND (not exists (select 1 from plan_runs r where r.plan_id = PLANS.id and r.state = 'running')) THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   PLANS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (RUN_AT, ID)
-- arguments: 1: limit
SELECT /* plansq.Peek */
       *
FROM   (
           SELECT ID, NAME, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
           FROM   PLANS
           WHERE  RUN_AT <= SYSTIMESTAMP
           AND    (not exists (select 1 from plan_runs r where r.plan_id = PLANS.id and r.state = 'running'))
           ORDER  BY RUN_AT, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* plansq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* plansq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'NAME', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PLANS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of PLAN_RUNS
-- locks: none
SELECT /* plansq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'PLAN_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PLAN_RUNS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* plansq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PLANS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PLANS'
           AND    have.index_name = want.name);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX PLANS_READY ON PLANS (RUN_AT, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
