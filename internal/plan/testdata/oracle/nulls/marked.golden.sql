-- Package markedq uses the table MARKED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MARKED_READY.
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
-- note: no order is said: rows are taken in the order of the key, JOBID

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (NODEID, JOBID)
-- arguments: 1: param nValue int, 2: param iValue int, 3: limit, 4: cursor
DECLARE /* markedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(MARKED MARKED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   MARKED
        WHERE  NODEID IS NULL
        AND    (ts < (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3'))) + 600000 and mod(ts, :1) = :2)
        ORDER  BY JOBID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :3;
    CLOSE candidate;
    OPEN :4 FOR
        SELECT JOBID, TS
        FROM   MARKED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Jobid, 2: given node *string
DECLARE /* markedq.Claim */
    JOBID_PICKED DBMS_SQL.VARCHAR2A := :1;
BEGIN
    FORALL i IN 1 .. JOBID_PICKED.COUNT
        UPDATE MARKED
        SET    NODEID = :2
        WHERE  JOBID = JOBID_PICKED(i);
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Jobid, 2: new Ts
INSERT /* markedq.Enqueue */ INTO MARKED
       (JOBID, TS)
VALUES (:1, :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* markedq.Stats */
       count(CASE WHEN NODEID IS NULL AND (ts < (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3'))) + 600000) THEN 1 END) AS READY,
       count(CASE WHEN NODEID IS NOT NULL THEN 1 END) AS DONE
FROM   MARKED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (NODEID, JOBID)
SELECT /* markedq.Backlog */
       count(*) AS READY
FROM   MARKED
WHERE  NODEID IS NULL
AND    (ts < (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3'))) + 600000);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (NODEID, JOBID)
-- arguments: 1: param nValue int, 2: param iValue int, 3: limit
SELECT /* markedq.Peek */
       *
FROM   (
           SELECT JOBID, TS
           FROM   MARKED
           WHERE  NODEID IS NULL
           AND    (ts < (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3'))) + 600000 and mod(ts, :1) = :2)
           ORDER  BY JOBID
       )
WHERE  ROWNUM <= :3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* markedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* markedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'JOBID' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'TS', 'number' FROM DUAL UNION ALL
           SELECT 'NODEID', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MARKED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* markedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MARKED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'MARKED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX MARKED_READY ON MARKED (NODEID, JOBID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
