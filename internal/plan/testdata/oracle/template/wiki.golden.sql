-- Package wikiq uses the table {{.Prefix}}JOB as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 19 cannot return the rows of an UPDATE
-- * block        a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them
--   token        not needed: block comes first
--   lock_update  not needed: block comes first
--   advisory     Oracle has no locks on numbers
--   guarded      not needed: block comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "JOB_TOKEN_TIMESTAMP" says which rows run (expired=claim)
-- note: a failed row is known by its attempts alone, so a row at the limit is not claimed (limit=claim)
-- note: rows are taken as they came, by column "JOB_ID"

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: JOB_CMD_ID (JOB_CMD, JOB_ID)
-- arguments: 1: param jobCmd string, 2: limit, 3: token JobToken, 4: cursor
DECLARE /* wikiq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX("{{.Prefix}}JOB" JOB_CMD_ID) */ ROWIDTOCHAR(ROWID)
        FROM   "{{.Prefix}}JOB"
        WHERE  (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
        AND    JOB_ATTEMPTS < 3
        AND    JOB_CMD = :1
        ORDER  BY JOB_ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE "{{.Prefix}}JOB"
        SET    JOB_TOKEN = :3,
               JOB_TOKEN_TIMESTAMP = SYSTIMESTAMP,
               JOB_ATTEMPTS = JOB_ATTEMPTS + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT JOB_ID, JOB_CMD, JOB_PARAMS, JOB_TOKEN,
               TO_CHAR(JOB_TOKEN_TIMESTAMP, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               JOB_ATTEMPTS
        FROM   "{{.Prefix}}JOB"
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: JOB_TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch JobID, 2: batch JobToken, 3: counts
DECLARE /* wikiq.Complete */
    JOB_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    JOB_TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOB_ID_HELD.COUNT
        DELETE FROM "{{.Prefix}}JOB"
        WHERE  JOB_ID = JOB_ID_HELD(i)
        AND    JOB_TOKEN = JOB_TOKEN_HELD(i)
        AND    JOB_TOKEN_TIMESTAMP IS NOT NULL;
    FOR i IN 1 .. JOB_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: JOB_TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch JobID, 2: batch JobToken, 3: counts
DECLARE /* wikiq.Fail */
    JOB_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    JOB_TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOB_ID_HELD.COUNT
        UPDATE "{{.Prefix}}JOB"
        SET    JOB_TOKEN = NULL,
               JOB_TOKEN_TIMESTAMP = NULL
        WHERE  JOB_ID = JOB_ID_HELD(i)
        AND    JOB_TOKEN = JOB_TOKEN_HELD(i)
        AND    JOB_TOKEN_TIMESTAMP IS NOT NULL;
    FOR i IN 1 .. JOB_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: JOB_TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch JobID, 2: batch JobToken, 3: counts
DECLARE /* wikiq.Fail */
    JOB_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    JOB_TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOB_ID_HELD.COUNT
        UPDATE "{{.Prefix}}JOB"
        SET    JOB_TOKEN = NULL,
               JOB_TOKEN_TIMESTAMP = NULL
        WHERE  JOB_ID = JOB_ID_HELD(i)
        AND    JOB_TOKEN = JOB_TOKEN_HELD(i)
        AND    JOB_TOKEN_TIMESTAMP IS NOT NULL;
    FOR i IN 1 .. JOB_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: JOB_TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch JobID, 2: batch JobToken, 3: counts
DECLARE /* wikiq.Requeue */
    JOB_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    JOB_TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOB_ID_HELD.COUNT
        UPDATE "{{.Prefix}}JOB"
        SET    JOB_TOKEN = NULL,
               JOB_TOKEN_TIMESTAMP = NULL,
               JOB_ATTEMPTS = JOB_ATTEMPTS - 1
        WHERE  JOB_ID = JOB_ID_HELD(i)
        AND    JOB_TOKEN = JOB_TOKEN_HELD(i)
        AND    JOB_TOKEN_TIMESTAMP IS NOT NULL;
    FOR i IN 1 .. JOB_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: JOB_TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch JobID, 2: batch JobToken, 3: counts
DECLARE /* wikiq.Extend */
    JOB_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    JOB_TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. JOB_ID_HELD.COUNT
        UPDATE "{{.Prefix}}JOB"
        SET    JOB_TOKEN_TIMESTAMP = SYSTIMESTAMP
        WHERE  JOB_ID = JOB_ID_HELD(i)
        AND    JOB_TOKEN = JOB_TOKEN_HELD(i)
        AND    JOB_TOKEN_TIMESTAMP IS NOT NULL;
    FOR i IN 1 .. JOB_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* wikiq.Redrive */ "{{.Prefix}}JOB"
SET    JOB_TOKEN = NULL,
       JOB_TOKEN_TIMESTAMP = NULL,
       JOB_ATTEMPTS = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   "{{.Prefix}}JOB"
           WHERE  (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
           AND    JOB_ATTEMPTS >= 3
           AND    ROWNUM <= :1)
AND    (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
AND    JOB_ATTEMPTS >= 3;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- arguments: 1: older, 2: limit, 3: older
DELETE /* wikiq.Purge */ FROM "{{.Prefix}}JOB"
WHERE  ROWID IN (
           SELECT ROWID
           FROM   "{{.Prefix}}JOB"
           WHERE  (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
           AND    JOB_ATTEMPTS >= 3
           AND    JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
AND    JOB_ATTEMPTS >= 3
AND    JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new JobCmd, 2: new JobParams, 3: new_key
INSERT /* wikiq.Enqueue */ INTO "{{.Prefix}}JOB"
       (JOB_CMD, JOB_PARAMS, JOB_ATTEMPTS)
VALUES (:1, :2, 0)
/* the new key */ RETURNING JOB_ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Stats */
       count(CASE WHEN (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL) AND JOB_ATTEMPTS < 3 THEN 1 END) AS READY,
       count(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP > SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS RUNNING,
       count(CASE WHEN (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL) AND JOB_ATTEMPTS >= 3 THEN 1 END) AS FAILED,
       count(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP > SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN JOB_TOKEN_TIMESTAMP END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   "{{.Prefix}}JOB";

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same JOB_CMD is for
-- locks: none
-- index: JOB_CMD_ID (JOB_CMD, JOB_ID)
-- arguments: 1: param jobCmd string
SELECT /* wikiq.StatsOf */
       count(CASE WHEN (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL) AND JOB_ATTEMPTS < 3 THEN 1 END) AS READY,
       count(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP > SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS RUNNING,
       count(CASE WHEN (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL) AND JOB_ATTEMPTS >= 3 THEN 1 END) AS FAILED,
       count(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN JOB_TOKEN_TIMESTAMP IS NOT NULL AND JOB_TOKEN_TIMESTAMP > SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN JOB_TOKEN_TIMESTAMP END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   "{{.Prefix}}JOB"
WHERE  JOB_CMD = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by JOB_CMD
-- locks: none
-- index: none; it reads the whole table
SELECT /* wikiq.Backlog */
       JOB_CMD,
       count(*) AS READY
FROM   "{{.Prefix}}JOB"
WHERE  (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
AND    JOB_ATTEMPTS < 3
GROUP  BY JOB_CMD
ORDER  BY JOB_CMD;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: JOB_CMD_ID (JOB_CMD, JOB_ID)
-- arguments: 1: param jobCmd string, 2: limit
SELECT /* wikiq.Peek */
       *
FROM   (
           SELECT JOB_ID, JOB_CMD, JOB_PARAMS, JOB_ATTEMPTS
           FROM   "{{.Prefix}}JOB"
           WHERE  (JOB_TOKEN_TIMESTAMP <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') OR JOB_TOKEN_TIMESTAMP IS NULL)
           AND    JOB_ATTEMPTS < 3
           AND    JOB_CMD = :1
           ORDER  BY JOB_ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* wikiq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* wikiq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'JOB_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'JOB_CMD', 'varchar2' FROM DUAL UNION ALL
           SELECT 'JOB_PARAMS', 'blob' FROM DUAL UNION ALL
           SELECT 'JOB_TOKEN', 'varchar2' FROM DUAL UNION ALL
           SELECT 'JOB_TOKEN_TIMESTAMP', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'JOB_ATTEMPTS', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = '{{.Prefix}}JOB'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* wikiq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOB_CMD_ID' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = '{{.Prefix}}JOB'
           AND    have.index_name = want.name);

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: JOB_CMD_ID serves already
