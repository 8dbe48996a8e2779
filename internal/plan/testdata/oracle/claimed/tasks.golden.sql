-- Package tasksq uses the table TASKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TASKS_READY.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "ID"

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* tasksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TASKS TASKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TASKS
        WHERE  STATE = 'pending'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TASKS
        SET    STATE = 'waiting',
               TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               TRIES = TRIES + 1,
               VERSION = VERSION + 1,
               CLAIMED_AT = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, VERSION, WHY
        FROM   TASKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/start.sql
-- start: claimed to running
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* tasksq.Start */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'running',
               VERSION = VERSION + 1,
               STARTED_AT = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE = 'waiting';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/start_read.sql
-- start: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* tasksq.Start */
       ID, VERSION
FROM   TASKS
WHERE  (ID = :v0);

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* tasksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'successful',
               TILL = NULL,
               VERSION = VERSION + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE IN ('waiting', 'running');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: error, 4: counts
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'pending',
               TILL = NULL,
               VERSION = VERSION + 1,
               WHY = :3
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE IN ('waiting', 'running');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: error, 4: counts
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'failed',
               TILL = NULL,
               VERSION = VERSION + 1,
               WHY = :3
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE IN ('waiting', 'running');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* tasksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'pending',
               TILL = NULL,
               TRIES = TRIES - 1,
               VERSION = VERSION + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE IN ('waiting', 'running');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: VERSION as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Version, 3: counts
DECLARE /* tasksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    VERSION_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               VERSION = VERSION + 1
        WHERE  ID = ID_HELD(i)
        AND    VERSION = VERSION_HELD(i)
        AND    STATE IN ('waiting', 'running');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* tasksq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), VERSION
FROM   TASKS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ TASKS
SET    STATE = 'pending',
       TILL = NULL,
       VERSION = VERSION + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE IN ('waiting', 'running')
           AND    TRIES < 3
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE IN ('waiting', 'running')
AND    TRIES < 3
AND    TILL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ TASKS
SET    STATE = 'failed',
       TILL = NULL,
       VERSION = VERSION + 1,
       WHY = 'the claim ran out'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE IN ('waiting', 'running')
           AND    TRIES >= 3
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE IN ('waiting', 'running')
AND    TRIES >= 3
AND    TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ TASKS
SET    STATE = 'pending',
       TILL = NULL,
       TRIES = 0,
       VERSION = VERSION + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'successful'
           AND    ROWNUM <= :1)
AND    STATE = 'successful';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* tasksq.Enqueue */ INTO TASKS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN STATE = 'pending' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'waiting' THEN 1 END) AS CLAIMED,
       count(CASE WHEN STATE = 'running' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'successful' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE IN ('waiting', 'running') AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   TASKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* tasksq.Backlog */
       count(*) AS READY
FROM   TASKS
WHERE  STATE = 'pending';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       *
FROM   (
           SELECT ID, TRIES, VERSION, WHY
           FROM   TASKS
           WHERE  STATE = 'pending'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* tasksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* tasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'VERSION', 'number' FROM DUAL UNION ALL
           SELECT 'CLAIMED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'STARTED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'WHY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TASKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* tasksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'TASKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TASKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX TASKS_READY ON TASKS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
