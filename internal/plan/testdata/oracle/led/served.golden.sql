-- Package servedq uses the table OUTBOX as a queue of jobs on Oracle 18 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 18 cannot return the rows of an UPDATE
-- * block        a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them
--   token        no column can hold the key of a batch
--   lock_update  not needed: block comes first
--   advisory     Oracle has no locks on numbers
--   guarded      not needed: block comes first
--   pop          a taken row is gone, so it must be asked for
-- note: no length= is said at column "NEXT_TIME", so whoever claims says for how long
-- note: a row that waits for its time looks like one that runs: both are hidden by column "NEXT_TIME"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows without a value in column "SEQ" stand last in the order, where Oracle puts nulls (nulls=first puts them first)
-- note: the index OUTBOX_SERVED_READY is declined (indexes: {ready: false}): every claim reads more rows than it takes

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: OUTBOX_2 (TOPIC, PROCESSED, SEQ); the ready rows are then sorted
-- arguments: 1: param_list topic []string, 2: limit, 3: lease, 4: cursor
DECLARE /* servedq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   OUTBOX
        WHERE  PROCESSED = 0
        AND    NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
        AND    TOPIC IN (:v0)
        ORDER  BY SEQ, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE OUTBOX
        SET    NEXT_TIME = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND'),
               VERSION = coalesce(VERSION, 0) + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT ID, BODY, TO_CHAR(NEXT_TIME, 'YYYY-MM-DD HH24:MI:SS.FF9'), VERSION, TOPIC,
               SEQ
        FROM   OUTBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* servedq.Complete */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    VERSION_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    VERSION = coalesce(VERSION, 0) + 1,
               PROCESSED = 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    PROCESSED = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: delay, 4: counts
DECLARE /* servedq.Fail */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    VERSION_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    NEXT_TIME = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND'),
               VERSION = coalesce(VERSION, 0) + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    PROCESSED = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: delay, 4: counts
DECLARE /* servedq.Requeue */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    VERSION_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    NEXT_TIME = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND'),
               VERSION = coalesce(VERSION, 0) + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    PROCESSED = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: lease, 4: counts
DECLARE /* servedq.Extend */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    VERSION_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    NEXT_TIME = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND'),
               VERSION = coalesce(VERSION, 0) + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    PROCESSED = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* servedq.Extend */
       ID, TO_CHAR(NEXT_TIME, 'YYYY-MM-DD HH24:MI:SS.FF9'), VERSION
FROM   OUTBOX
WHERE  (ID = :v0);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: OUTBOX_1 (PROCESSED, NEXT_TIME)
-- arguments: 1: limit
DELETE /* servedq.Purge */ FROM OUTBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   OUTBOX
           WHERE  PROCESSED = 1
           AND    ROWNUM <= :1)
AND    PROCESSED = 1;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Body, 3: new NextTime, 4: new Topic, 5: new Seq
INSERT /* servedq.Enqueue */ INTO OUTBOX
       (ID, BODY, NEXT_TIME, VERSION, PROCESSED, TOPIC, SEQ)
VALUES (:1, :2, TO_TIMESTAMP(:3, 'YYYY-MM-DD HH24:MI:SS.FF9'), 0, 0, :4, :5);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* servedq.Stats */
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS RUNNING,
       count(CASE WHEN PROCESSED = 1 THEN 1 END) AS DONE,
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN PROCESSED = 0 AND NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN NEXT_TIME END) AS DATE)) * 86400 AS OLDEST_READY
FROM   OUTBOX;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same TOPIC is for
-- locks: none
-- index: OUTBOX_2 (TOPIC, PROCESSED, SEQ)
-- arguments: 1: param_list topic []string
SELECT /* servedq.StatsOf */
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS RUNNING,
       count(CASE WHEN PROCESSED = 1 THEN 1 END) AS DONE,
       count(CASE WHEN PROCESSED = 0 AND NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN PROCESSED = 0 AND NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN NEXT_TIME END) AS DATE)) * 86400 AS OLDEST_READY
FROM   OUTBOX
WHERE  TOPIC IN (:v0);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by TOPIC
-- locks: none
-- index: OUTBOX_1 (PROCESSED, NEXT_TIME)
SELECT /* servedq.Backlog */
       TOPIC,
       count(CASE WHEN NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN NEXT_TIME END) AS DATE)) * 86400 AS OLDEST_READY
FROM   OUTBOX
WHERE  PROCESSED = 0
GROUP  BY TOPIC
HAVING count(CASE WHEN NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) > 0
OR     count(CASE WHEN NEXT_TIME > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) > 0
ORDER  BY TOPIC;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: OUTBOX_2 (TOPIC, PROCESSED, SEQ); the ready rows are then sorted
-- arguments: 1: param_list topic []string, 2: limit
SELECT /* servedq.Peek */
       *
FROM   (
           SELECT ID, BODY, TOPIC, SEQ
           FROM   OUTBOX
           WHERE  PROCESSED = 0
           AND    NEXT_TIME <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    TOPIC IN (:v0)
           ORDER  BY SEQ, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* servedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 18'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1800;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* servedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL UNION ALL
           SELECT 'NEXT_TIME', 'timestamp' FROM DUAL UNION ALL
           SELECT 'VERSION', 'number' FROM DUAL UNION ALL
           SELECT 'PROCESSED', 'number' FROM DUAL UNION ALL
           SELECT 'TOPIC', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SEQ', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'OUTBOX'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
