-- Package utcq uses the table CALLS as a queue of jobs on Oracle 19 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates CALLS_UTC_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: there is no Enqueue: column "OPENS" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit, 4: cursor
DECLARE /* utcq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(CALLS CALLS_UTC_READY) */ ROWIDTOCHAR(ROWID)
        FROM   CALLS
        WHERE  STATE = 'N'
        AND    (opens <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') AND TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') < closes AND day >= TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) AND day < TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) + 1 AND (called < SYS_EXTRACT_UTC(SYSTIMESTAMP) OR called IS NULL) AND made < FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - 60)
        AND    ((called > TO_TIMESTAMP(:1, 'YYYY-MM-DD HH24:MI:SS.FF9') OR made > :2 - 60))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :3;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE CALLS
        SET    STATE = 'R'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT ID, "NUMBER", TO_CHAR(HEARD, 'YYYY-MM-DD HH24:MI:SS.FF9'), MADE
        FROM   CALLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* utcq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'R';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* utcq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'N'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'R';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* utcq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CALLS
        SET    STATE = 'N'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'R';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, MADE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* utcq.Purge */ FROM CALLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   CALLS
           WHERE  STATE = 'D'
           AND    MADE <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
           AND    ROWNUM <= :2)
AND    STATE = 'D'
AND    MADE <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* utcq.Stats */
       count(CASE WHEN STATE = 'N' AND (opens <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') AND TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') < closes AND day >= TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) AND day < TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) + 1 AND (called < SYS_EXTRACT_UTC(SYSTIMESTAMP) OR called IS NULL) AND made < FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - 60) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'R' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN STATE = 'N' AND (opens <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') AND TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') < closes AND day >= TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) AND day < TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) + 1 AND (called < SYS_EXTRACT_UTC(SYSTIMESTAMP) OR called IS NULL) AND made < FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - 60) THEN MADE END) AS OLDEST_READY
FROM   CALLS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID); it reads others as well
SELECT /* utcq.Backlog */
       count(*) AS READY,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(MADE) AS OLDEST_READY
FROM   CALLS
WHERE  STATE = 'N'
AND    (opens <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') AND TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') < closes AND day >= TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) AND day < TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) + 1 AND (called < SYS_EXTRACT_UTC(SYSTIMESTAMP) OR called IS NULL) AND made < FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - 60);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
SELECT /* utcq.Peek */
       *
FROM   (
           SELECT ID, "NUMBER", TO_CHAR(HEARD, 'YYYY-MM-DD HH24:MI:SS.FF9'), MADE
           FROM   CALLS
           WHERE  STATE = 'N'
           AND    (opens <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') AND TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'HH24:MI:SS') < closes AND day >= TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) AND day < TRUNC(CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)) + 1 AND (called < SYS_EXTRACT_UTC(SYSTIMESTAMP) OR called IS NULL) AND made < FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - 60)
           AND    ((called > TO_TIMESTAMP(:1, 'YYYY-MM-DD HH24:MI:SS.FF9') OR made > :2 - 60))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* utcq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* utcq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'NUMBER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'HEARD', 'timestamp' FROM DUAL UNION ALL
           SELECT 'MADE', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CALLS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* utcq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'CALLS_UTC_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'CALLS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CALLS_UTC_READY ON CALLS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
