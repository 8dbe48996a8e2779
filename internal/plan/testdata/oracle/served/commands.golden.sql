-- Package commandsq uses the table COMMANDS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- note: the fence compares column "CHANGED", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED); the ready rows are then sorted
-- arguments: 1: limit, 2: cursor
DECLARE /* commandsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(COMMANDS COMMANDS_STATE) */ ROWIDTOCHAR(ROWID)
        FROM   COMMANDS
        WHERE  STATE IN (0, 1)
        AND    TAKEN = 0
        ORDER  BY CHANGED, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE COMMANDS
        SET    STATE = 1,
               TAKEN = 1,
               CHANGED = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(CHANGED, 'YYYY-MM-DD HH24:MI:SS')
        FROM   COMMANDS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: CHANGED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Changed, 3: counts
DECLARE /* commandsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CHANGED_HELD DBMS_SQL.VARCHAR2A := :2;
    changed_rows DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE COMMANDS
        SET    STATE = 2,
               TAKEN = 0,
               CHANGED = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
        WHERE  ID = ID_HELD(i)
        AND    CHANGED = TO_DATE(CHANGED_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    STATE = 1
        AND    TAKEN = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed_rows(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed_rows;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: CHANGED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Changed, 3: counts
DECLARE /* commandsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CHANGED_HELD DBMS_SQL.VARCHAR2A := :2;
    changed_rows DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE COMMANDS
        SET    STATE = 3,
               TAKEN = 0,
               CHANGED = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
        WHERE  ID = ID_HELD(i)
        AND    CHANGED = TO_DATE(CHANGED_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    STATE = 1
        AND    TAKEN = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed_rows(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed_rows;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: CHANGED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Changed, 3: counts
DECLARE /* commandsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CHANGED_HELD DBMS_SQL.VARCHAR2A := :2;
    changed_rows DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE COMMANDS
        SET    STATE = 0,
               TAKEN = 0
        WHERE  ID = ID_HELD(i)
        AND    CHANGED = TO_DATE(CHANGED_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    STATE = 1
        AND    TAKEN = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed_rows(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed_rows;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: CHANGED as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Changed, 3: counts
DECLARE /* commandsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CHANGED_HELD DBMS_SQL.VARCHAR2A := :2;
    changed_rows DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE COMMANDS
        SET    CHANGED = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
        WHERE  ID = ID_HELD(i)
        AND    CHANGED = TO_DATE(CHANGED_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    STATE = 1
        AND    TAKEN = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed_rows(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed_rows;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* commandsq.Extend */
       ID, TO_CHAR(CHANGED, 'YYYY-MM-DD HH24:MI:SS')
FROM   COMMANDS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED)
-- arguments: 1: limit
UPDATE /* commandsq.Recover */ COMMANDS
SET    STATE = 0,
       TAKEN = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   COMMANDS
           WHERE  STATE = 1
           AND    TAKEN = 1
           AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - 1800 / 86400
           AND    ROWNUM <= :1)
AND    STATE = 1
AND    TAKEN = 1
AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - 1800 / 86400;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED)
-- arguments: 1: limit
UPDATE /* commandsq.Redrive */ COMMANDS
SET    STATE = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   COMMANDS
           WHERE  STATE = 3
           AND    TAKEN = 0
           AND    ROWNUM <= :1)
AND    STATE = 3
AND    TAKEN = 0;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* commandsq.Purge */ FROM COMMANDS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   COMMANDS
           WHERE  STATE = 2
           AND    TAKEN = 0
           AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - :1 / 86400
           AND    ROWNUM <= :2)
AND    STATE = 2
AND    TAKEN = 0
AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - :3 / 86400;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED)
-- arguments: 1: older, 2: limit, 3: older
DELETE /* commandsq.Purge */ FROM COMMANDS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   COMMANDS
           WHERE  STATE = 3
           AND    TAKEN = 0
           AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - :1 / 86400
           AND    ROWNUM <= :2)
AND    STATE = 3
AND    TAKEN = 0
AND    CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - :3 / 86400;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* commandsq.Enqueue */ INTO COMMANDS
       (ID, STATE, TAKEN, CHANGED)
VALUES ((commands_seq.NEXTVAL), 0, 0, CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* commandsq.Stats */
       count(CASE WHEN STATE IN (0, 1) AND TAKEN = 0 THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 AND TAKEN = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 AND TAKEN = 0 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 AND TAKEN = 0 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 1 AND TAKEN = 1 AND CHANGED <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - 1800 / 86400 THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - min(CASE WHEN STATE = 1 AND TAKEN = 1 THEN CHANGED END)) * 86400 AS OLDEST_RUNNING
FROM   COMMANDS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED)
SELECT /* commandsq.Backlog */
       count(*) AS READY
FROM   COMMANDS
WHERE  STATE IN (0, 1)
AND    TAKEN = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: COMMANDS_STATE (STATE, TAKEN, CHANGED); the ready rows are then sorted
-- arguments: 1: limit
SELECT /* commandsq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(CHANGED, 'YYYY-MM-DD HH24:MI:SS')
           FROM   COMMANDS
           WHERE  STATE IN (0, 1)
           AND    TAKEN = 0
           ORDER  BY CHANGED, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* commandsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* commandsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'TAKEN', 'number' FROM DUAL UNION ALL
           SELECT 'CHANGED', 'date' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'COMMANDS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* commandsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'COMMANDS_STATE' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'COMMANDS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those; it also serves Recover: claims that ran out, among the rows that somebody has: COMMANDS_STATE serves already
