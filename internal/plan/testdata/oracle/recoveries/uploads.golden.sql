-- Package uploadsq uses the table UPLOADS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and its recoveries are spent
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those whose recoveries are spent failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates UPLOADS_READY.
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
-- note: on giveup, column "MESSAGE" gets 'reset too often' as qgen:on says, not 'the claim ran out' as qgen:error would
-- note: rows are taken as they came, by column "ID"
-- note: warning: a running row whose SEEN is null is never recovered: no claim is over that has no heartbeat; where other programs begin jobs as well, have them write the first one then

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: token Held, 3: cursor
DECLARE /* uploadsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(UPLOADS UPLOADS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   UPLOADS
        WHERE  STATE = 'queued'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE UPLOADS
        SET    STATE = 'processing',
               HELD = :2,
               SEEN = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, HELD, NUM_FAILURES, NUM_RESETS, MESSAGE
        FROM   UPLOADS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: HELD as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Held, 3: counts
DECLARE /* uploadsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    STATE = 'completed'
        WHERE  ID = ID_HELD(i)
        AND    HELD = HELD_HELD(i)
        AND    STATE = 'processing';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: HELD as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Held, 3: error, 4: counts
DECLARE /* uploadsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    STATE = 'queued',
               HELD = NULL,
               NUM_FAILURES = NUM_FAILURES + 1,
               MESSAGE = :3
        WHERE  ID = ID_HELD(i)
        AND    HELD = HELD_HELD(i)
        AND    STATE = 'processing';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: HELD as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Held, 3: error, 4: counts
DECLARE /* uploadsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    STATE = 'failed',
               NUM_FAILURES = NUM_FAILURES + 1,
               MESSAGE = :3
        WHERE  ID = ID_HELD(i)
        AND    HELD = HELD_HELD(i)
        AND    STATE = 'processing';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: HELD as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Held, 3: counts
DECLARE /* uploadsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    STATE = 'queued',
               HELD = NULL
        WHERE  ID = ID_HELD(i)
        AND    HELD = HELD_HELD(i)
        AND    STATE = 'processing';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: HELD as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Held, 3: counts
DECLARE /* uploadsq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    SEEN = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    HELD = HELD_HELD(i)
        AND    STATE = 'processing';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ UPLOADS
SET    STATE = 'queued',
       HELD = NULL,
       NUM_RESETS = NUM_RESETS + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   UPLOADS
           WHERE  STATE = 'processing'
           AND    NUM_RESETS < 2
           AND    SEEN <= SYSTIMESTAMP - NUMTODSINTERVAL(25, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'processing'
AND    NUM_RESETS < 2
AND    SEEN <= SYSTIMESTAMP - NUMTODSINTERVAL(25, 'SECOND');

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim, whose recoveries are spent, to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* uploadsq.Recover */ UPLOADS
SET    STATE = 'failed',
       MESSAGE = 'reset too often'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   UPLOADS
           WHERE  STATE = 'processing'
           AND    NUM_RESETS >= 2
           AND    SEEN <= SYSTIMESTAMP - NUMTODSINTERVAL(25, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'processing'
AND    NUM_RESETS >= 2
AND    SEEN <= SYSTIMESTAMP - NUMTODSINTERVAL(25, 'SECOND');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* uploadsq.Redrive */ UPLOADS
SET    STATE = 'queued',
       HELD = NULL,
       NUM_FAILURES = 0,
       NUM_RESETS = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   UPLOADS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM UPLOADS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   UPLOADS
           WHERE  STATE = 'completed'
           AND    ROWNUM <= :1)
AND    STATE = 'completed';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* uploadsq.Purge */ FROM UPLOADS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   UPLOADS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* uploadsq.Enqueue */ INTO UPLOADS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* uploadsq.Stats */
       count(CASE WHEN STATE = 'queued' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'processing' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'completed' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'processing' AND SEEN <= SYSTIMESTAMP - NUMTODSINTERVAL(25, 'SECOND') THEN 1 END) AS EXPIRED
FROM   UPLOADS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* uploadsq.Backlog */
       count(*) AS READY
FROM   UPLOADS
WHERE  STATE = 'queued';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* uploadsq.Peek */
       *
FROM   (
           SELECT ID, NUM_FAILURES, NUM_RESETS, MESSAGE
           FROM   UPLOADS
           WHERE  STATE = 'queued'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* uploadsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* uploadsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'HELD', 'raw' FROM DUAL UNION ALL
           SELECT 'SEEN', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'NUM_FAILURES', 'number' FROM DUAL UNION ALL
           SELECT 'NUM_RESETS', 'number' FROM DUAL UNION ALL
           SELECT 'MESSAGE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'UPLOADS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* uploadsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'UPLOADS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'UPLOADS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX UPLOADS_READY ON UPLOADS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
