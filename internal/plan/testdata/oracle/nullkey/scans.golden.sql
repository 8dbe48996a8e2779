-- Package scansq uses the table SCANS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates SCANS_READY.
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
-- note: the key is REPORT: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: a row whose claim has run out is claimed again, since nothing but column "TILL" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: ("START", REPORT)
-- arguments: 1: limit, 2: cursor
DECLARE /* scansq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(SCANS SCANS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   SCANS
        WHERE  (TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) OR TILL IS NULL)
        AND    (report is not null)
        ORDER  BY "START", REPORT
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE SCANS
        SET    TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT REPORT, BODY, "START", TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   SCANS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Report, 2: batch Till, 3: counts
DECLARE /* scansq.Complete */
    REPORT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REPORT_HELD.COUNT
        DELETE FROM SCANS
        WHERE  REPORT = REPORT_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. REPORT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Report, 2: batch Till, 3: counts
DECLARE /* scansq.Fail */
    REPORT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REPORT_HELD.COUNT
        UPDATE SCANS
        SET    TILL = NULL
        WHERE  REPORT = REPORT_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. REPORT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Report, 2: batch Till, 3: counts
DECLARE /* scansq.Requeue */
    REPORT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REPORT_HELD.COUNT
        UPDATE SCANS
        SET    TILL = NULL
        WHERE  REPORT = REPORT_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. REPORT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Report, 2: batch Till, 3: counts
DECLARE /* scansq.Extend */
    REPORT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REPORT_HELD.COUNT
        UPDATE SCANS
        SET    TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  REPORT = REPORT_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. REPORT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list Report
SELECT /* scansq.Extend */
       REPORT, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   SCANS
WHERE  (REPORT = :v0);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Report, 2: new Body, 3: new Start
INSERT /* scansq.Enqueue */ INTO SCANS
       (REPORT, BODY, "START")
VALUES (:1, :2, :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* scansq.Stats */
       count(CASE WHEN (TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) OR TILL IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN TILL IS NOT NULL AND TILL > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS RUNNING,
       count(CASE WHEN TILL IS NOT NULL AND TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED
FROM   SCANS
WHERE  (report is not null);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ("START", REPORT)
-- arguments: 1: limit
SELECT /* scansq.Peek */
       *
FROM   (
           SELECT REPORT, BODY, "START"
           FROM   SCANS
           WHERE  (TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) OR TILL IS NULL)
           AND    (report is not null)
           ORDER  BY "START", REPORT
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* scansq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* scansq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REPORT' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL UNION ALL
           SELECT 'START', 'number' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'SCANS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* scansq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'SCANS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'SCANS'
           AND    have.index_name = want.name);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over
CREATE INDEX SCANS_READY ON SCANS ("START", REPORT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
