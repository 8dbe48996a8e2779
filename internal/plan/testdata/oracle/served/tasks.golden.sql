-- Package tasksq uses the table TASKS as a queue of jobs on Oracle 19 and later.
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows that are alike in column "DUE_AT" are taken as the index TASKS_DUE has them: in the order of the key as well, Oracle would sort all ready rows for each claim
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
-- arguments: 1: limit, 2: cursor
DECLARE /* tasksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TASKS TASKS_DUE) */ ROWIDTOCHAR(ROWID)
        FROM   TASKS
        WHERE  STATE = 0
        AND    DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
        ORDER  BY DUE_AT
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TASKS
        SET    STATE = 1,
               TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9'), KIND,
               TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   TASKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* tasksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 2,
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 3,
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: delay, 4: counts
DECLARE /* tasksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 0,
               DUE_AT = CASE WHEN :3 > 0.0 THEN SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND') ELSE DUE_AT END,
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* tasksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 1;
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
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   TASKS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: TASKS_DUE (STATE, DUE_AT, KIND), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* tasksq.Recover */ TASKS
SET    STATE = 0,
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 1
           AND    TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    ROWNUM <= :1)
AND    STATE = 1
AND    TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ TASKS
SET    STATE = 0,
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 3
           AND    ROWNUM <= :1)
AND    STATE = 3;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 2
           AND    ROWNUM <= :1)
AND    STATE = 2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
-- arguments: 1: limit
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 3
           AND    ROWNUM <= :1)
AND    STATE = 3;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Kind
INSERT /* tasksq.Enqueue */ INTO TASKS
       (ID, STATE, DUE_AT, KIND)
VALUES ((tasks_seq.NEXTVAL), 0,
        coalesce(TO_TIMESTAMP(:1, 'YYYY-MM-DD HH24:MI:SS.FF9'), SYS_EXTRACT_UTC(SYSTIMESTAMP)),
        :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* tasksq.Stats */
       count(CASE WHEN STATE = 0 AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 3 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 0 AND DUE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 1 AND TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATE = 0 AND DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN DUE_AT END) AS DATE)) * 86400 AS OLDEST_READY
FROM   TASKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
SELECT /* tasksq.Backlog */
       count(CASE WHEN DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN DUE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN DUE_AT END) AS DATE)) * 86400 AS OLDEST_READY
FROM   TASKS
WHERE  STATE = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: TASKS_DUE (STATE, DUE_AT, KIND)
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9'), KIND
           FROM   TASKS
           WHERE  STATE = 0
           AND    DUE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           ORDER  BY DUE_AT
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
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'DUE_AT', 'timestamp' FROM DUAL UNION ALL
           SELECT 'KIND', 'number' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp' FROM DUAL
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
           SELECT 'TASKS_DUE' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TASKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few: TASKS_DUE serves already
