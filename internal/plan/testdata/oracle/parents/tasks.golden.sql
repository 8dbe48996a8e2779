-- Package tasksq uses the table TASKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover lets them fail.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
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
-- note: no column says when a claim in column "TAKEN" has run out, but whoever asks (timeout=arg): all have to say the same, for the shortest takes jobs away from those who run them
-- note: warning: also: fail takes rows of other jobs to another state whatever state they are in, also those that others run; a state among where: leaves these alone
-- note: warning: also: fail makes column "STATE" of TASKS from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: warning: also: giveup makes column "STATE" of TASKS from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: no order is said: rows are taken in the order of the key, ID
-- note: also: done writes TASKS behind the rows of TASKS, which its SQL reads; {row} is there as the step leaves it
-- note: also: fail writes TASKS behind the rows of TASKS, which its SQL reads; {row} is there as the step leaves it
-- note: also: giveup writes TASKS behind the rows of TASKS, which its SQL reads; {row} is there as the step leaves it
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* tasksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TASKS TASKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TASKS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TASKS
        SET    STATE = 'busy',
               TAKEN = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, PARENT_ID, WHOLE, TO_CHAR(TAKEN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   TASKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TAKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Taken
SELECT /* tasksq.Complete */
       ID
FROM   TASKS
WHERE  ((ID = :v0 AND TAKEN = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken
DECLARE /* tasksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'done'
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP_TZ(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
END;

-- sql/complete_update_tasks_lock.sql
-- complete: locks the rows of other jobs that complete_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Complete */ TASKS
SET    (STATE) = (
           SELECT TASKS.STATE
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    (tasks.state <> 'done')
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    (tasks.state <> 'done'))
AND    TASKS.WHOLE = 1
AND    NOT (TASKS.ID = :v0);

-- sql/complete_update_tasks.sql
-- complete: updates rows of TASKS for the rows that complete_lock.sql locked, behind complete.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Complete */ TASKS
SET    (STATE) = (
           SELECT 'done'
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    (tasks.state <> 'done' and not exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'done'))
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    (tasks.state <> 'done' and not exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'done')))
AND    TASKS.WHOLE = 1
AND    NOT (TASKS.ID = :v0);

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TAKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Taken
SELECT /* tasksq.Fail */
       ID
FROM   TASKS
WHERE  ((ID = :v0 AND TAKEN = TO_TIMESTAMP_TZ(:v0, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken
DECLARE /* tasksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'failed'
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP_TZ(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
END;

-- sql/fail_update_tasks_lock.sql
-- fail: locks the rows of other jobs that fail_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Fail */ TASKS
SET    (STATE) = (
           SELECT TASKS.STATE
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0))
AND    NOT (TASKS.ID = :v0);

-- sql/fail_update_tasks.sql
-- fail: updates rows of TASKS for the rows that fail_lock.sql locked, behind fail.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Fail */ TASKS
SET    (STATE) = (
           SELECT (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0))
AND    NOT (TASKS.ID = :v0);

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TAKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Taken, 3: counts
DECLARE /* tasksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'new',
               TAKEN = NULL
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP_TZ(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
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
DECLARE /* tasksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    TAKEN = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP_TZ(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
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
SELECT /* tasksq.Extend */
       ID, TO_CHAR(TAKEN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   TASKS
WHERE  (ID = :v0);

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: timeout, 2: limit, 3: cursor
DECLARE /* tasksq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   TASKS
        WHERE  STATE = 'busy'
        AND    TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   TASKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* tasksq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TASKS
        SET    STATE = 'failed'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/recover_failed_update_tasks_lock.sql
-- recover_failed: locks the rows of other jobs that recover_failed_update_tasks.sql writes, so that it reads what others have written who had them locked
-- locks: the rows of other jobs, until commit
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Recover */ TASKS
SET    (STATE) = (
           SELECT TASKS.STATE
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0))
AND    NOT (TASKS.ID = :v0);

-- sql/recover_failed_update_tasks.sql
-- recover_failed: updates rows of TASKS for the rows that recover_failed_lock.sql locked, behind recover_failed.sql, which wrote what it reads; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows the primary key (ID)
-- arguments: 1: list ID, 2: list ID, 3: list ID
UPDATE /* tasksq.Recover */ TASKS
SET    (STATE) = (
           SELECT (case when exists (select 1 from tasks s where s.parent_id = held.parent_id and s.state <> 'failed') then tasks.state else 'failed' end)
           FROM   TASKS held
           WHERE  (held.ID = :v0)
           AND    TASKS.ID = held.PARENT_ID
           AND    ROWNUM = 1)
WHERE  (ID) IN (
           SELECT held.PARENT_ID
           FROM   TASKS held
           WHERE  (held.ID = :v0))
AND    NOT (TASKS.ID = :v0);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* tasksq.Redrive */ TASKS
SET    STATE = 'new',
       TAKEN = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'done'
           AND    TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'done'
AND    TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* tasksq.Purge */ FROM TASKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TASKS
           WHERE  STATE = 'failed'
           AND    TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'failed'
AND    TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new ParentID, 3: new Whole
INSERT /* tasksq.Enqueue */ INTO TASKS
       (ID, PARENT_ID, WHOLE)
VALUES (:1, :2, coalesce(:3, 0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: timeout
SELECT /* tasksq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'done' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'busy' THEN TAKEN END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   TASKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* tasksq.Backlog */
       count(*) AS READY
FROM   TASKS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* tasksq.Peek */
       *
FROM   (
           SELECT ID, PARENT_ID, WHOLE
           FROM   TASKS
           WHERE  STATE = 'new'
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
           SELECT 'PARENT_ID', 'number' FROM DUAL UNION ALL
           SELECT 'WHOLE', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN', 'timestamp with time zone' FROM DUAL
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
