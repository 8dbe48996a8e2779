-- Package runsq uses the table RUNS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Drop------------> (deleted)
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes ORDERS (Complete, Fail, Recover); ENDED (Drop), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates RUNS_READY.
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
-- note: no column says when a claim in column "TAKEN" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: on giveup, column "STATE" gets 'lost' as qgen:on says, not 'failed' as qgen:status would
-- note: no order is said: rows are taken in the order of the key, ID
-- note: the fence compares column "TAKEN", which counts whole seconds: two claims within one second look alike
-- note: also: done writes ORDERS behind the rows of RUNS, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes ORDERS behind the rows of RUNS, which its SQL reads; {row} is there as the step leaves it
-- note: warning: also: drop reads RUNS while the rows are there still that the step takes away: leave out the row of the job itself, and call it with one job at a time, since of several each finds the others; two calls at once do not see what the other is writing: an update before it, of a row of a table that their jobs share, has them follow one another
-- note: also: giveup writes ORDERS behind the rows of RUNS, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* runsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(RUNS RUNS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   RUNS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE RUNS
        SET    STATE = 'busy',
               TAKEN = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, ORDER_ID, TAKEN
        FROM   RUNS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TAKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Taken
SELECT /* runsq.Complete */
       ID
FROM   RUNS
WHERE  ((ID = :v0 AND TAKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken
DECLARE /* runsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RUNS
        SET    STATE = 'done'
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TAKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/complete_update_orders_lock.sql
-- complete: locks the rows of ORDERS that complete_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of ORDERS, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID, 2: list ID
UPDATE /* runsq.Complete */ ORDERS
SET    (STATE) = (
           SELECT ORDERS.STATE
           FROM   RUNS held
           WHERE  (held.ID = :v0)
           AND    ORDERS.ID = held.ORDER_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  (held.ID = :v0));

-- sql/complete_update_orders.sql
-- complete: updates rows of ORDERS for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID, 2: list ID
UPDATE /* runsq.Complete */ ORDERS
SET    (STATE) = (
           SELECT (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
           FROM   RUNS held
           WHERE  (held.ID = :v0)
           AND    ORDERS.ID = held.ORDER_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  (held.ID = :v0));

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TAKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Taken
SELECT /* runsq.Fail */
       ID
FROM   RUNS
WHERE  ((ID = :v0 AND TAKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail_update_orders.sql
-- fail: updates rows of ORDERS for the rows that fail_lock.sql locked, before fail.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID Taken, 2: list ID Taken
UPDATE /* runsq.Fail */ ORDERS
SET    (FAILED) = (
           SELECT (orders.failed + shared.JOBS)
           FROM   (
                      SELECT held.ORDER_ID AS OF_ID,
                             count(*) AS JOBS
                      FROM   RUNS held
                      WHERE  ((held.ID = :v0 AND held.TAKEN = :v0))
                      GROUP  BY held.ORDER_ID
                  ) shared
           WHERE  ORDERS.ID = shared.OF_ID
       )
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  ((held.ID = :v0 AND held.TAKEN = :v0)));

-- sql/fail.sql
-- fail: running to failed
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken
DECLARE /* runsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RUNS
        SET    STATE = 'failed'
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TAKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/fail_update_orders_2.sql
-- fail: updates rows of ORDERS for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID, 2: list ID
UPDATE /* runsq.Fail */ ORDERS
SET    (STATE) = (
           SELECT (case when exists (select 1 from runs o where o.order_id = orders.id and o.state in ('new', 'busy')) then 'open' else 'closed' end)
           FROM   RUNS held
           WHERE  (held.ID = :v0)
           AND    ORDERS.ID = held.ORDER_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  (held.ID = :v0));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken, 3: counts
DECLARE /* runsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RUNS
        SET    STATE = 'new',
               TAKEN = NULL
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TAKEN_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken, 3: counts
DECLARE /* runsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RUNS
        SET    TAKEN = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TAKEN_HELD(i)
        AND    STATE = 'busy';
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
SELECT /* runsq.Extend */
       ID, TAKEN
FROM   RUNS
WHERE  (ID = :v0);

-- sql/outcome_drop_lock.sql
-- outcome_drop: locks the rows of jobs whose claims are still theirs, which outcome_drop.sql then writes
-- fence: TAKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Taken
SELECT /* runsq.Drop */
       ID
FROM   RUNS
WHERE  ((ID = :v0 AND TAKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/outcome_drop_insert_ended.sql
-- outcome_drop: inserts rows into ENDED for the rows that outcome_drop_lock.sql locked, before outcome_drop.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID Taken
INSERT /* runsq.Drop */ INTO ENDED
       (ORDER_ID)
SELECT held.ORDER_ID
FROM   RUNS held
WHERE  ((held.ID = :v0 AND held.TAKEN = :v0))
AND    (not exists (select 1 from runs o where o.order_id = held.order_id and o.id <> held.id));

-- sql/outcome_drop.sql
-- outcome_drop: running to deleted
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken
DECLARE /* runsq.Drop */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM RUNS
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TAKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: timeout, 2: limit, 3: cursor
DECLARE /* runsq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   RUNS
        WHERE  STATE = 'busy'
        AND    TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   RUNS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* runsq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RUNS
        SET    STATE = 'lost'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/recover_failed_update_orders_lock.sql
-- recover_failed: locks the rows of ORDERS that recover_failed_update_orders.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of ORDERS, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID, 2: list ID
UPDATE /* runsq.Recover */ ORDERS
SET    (STATE) = (
           SELECT ORDERS.STATE
           FROM   RUNS held
           WHERE  (held.ID = :v0)
           AND    ORDERS.ID = held.ORDER_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  (held.ID = :v0));

-- sql/recover_failed_update_orders.sql
-- recover_failed: updates rows of ORDERS for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads
-- locks: the rows it writes, until commit
-- index: the key; of ORDERS one that begins with ID
-- arguments: 1: list ID, 2: list ID
UPDATE /* runsq.Recover */ ORDERS
SET    (STATE) = (
           SELECT (case when exists (select 1 from runs o where o.order_id = held.order_id and o.state in ('new', 'busy')) then 'open' else 'lost' end)
           FROM   RUNS held
           WHERE  (held.ID = :v0)
           AND    ORDERS.ID = held.ORDER_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.ORDER_ID
           FROM   RUNS held
           WHERE  (held.ID = :v0));

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* runsq.Redrive */ RUNS
SET    STATE = 'new',
       TAKEN = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RUNS
           WHERE  STATE IN ('failed', 'lost')
           AND    ROWNUM <= :1)
AND    STATE IN ('failed', 'lost');

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* runsq.Purge */ FROM RUNS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RUNS
           WHERE  STATE = 'done'
           AND    TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
           AND    ROWNUM <= :2)
AND    STATE = 'done'
AND    TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :3);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* runsq.Purge */ FROM RUNS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RUNS
           WHERE  STATE IN ('failed', 'lost')
           AND    TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
           AND    ROWNUM <= :2)
AND    STATE IN ('failed', 'lost')
AND    TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :3);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new OrderID
INSERT /* runsq.Enqueue */ INTO RUNS
       (ID, ORDER_ID)
VALUES (:1, :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* runsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'done' THEN 1 END) AS DONE,
       count(CASE WHEN STATE IN ('failed', 'lost') THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TAKEN <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1) THEN 1 END) AS EXPIRED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN STATE = 'busy' THEN TAKEN END) AS OLDEST_RUNNING
FROM   RUNS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* runsq.Backlog */
       count(*) AS READY
FROM   RUNS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* runsq.Peek */
       *
FROM   (
           SELECT ID, ORDER_ID
           FROM   RUNS
           WHERE  STATE = 'new'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* runsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ORDER_ID', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'RUNS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of ORDERS
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'STATE' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'ID', 'number' FROM DUAL UNION ALL
           SELECT 'FAILED', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ORDERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of ENDED
-- locks: none
SELECT /* runsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ORDER_ID' AS name, 'number' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ENDED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* runsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'RUNS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'RUNS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX RUNS_READY ON RUNS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
