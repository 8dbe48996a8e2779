-- Package jobsq uses the table JOBS as a queue of jobs on Oracle 19 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOBS_READY.
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
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=update changes the row that is like a new job in LABEL (unique key JOBS_LABEL), where ({row}.state <> 'running' and (data <> {new}.data or {row}.scheduled <> {new}.scheduled)), and leaves it alone where that does not hold: DATA = {data}, PRIORITY = {priority} unless nil, STATE = 'scheduled', SCHEDULED = {scheduled} unless nil

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
-- arguments: 1: limit, 2: cursor
DECLARE /* jobsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATE = 'scheduled'
        AND    SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
        ORDER  BY PRIORITY DESC, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE JOBS
        SET    STATE = 'running',
               DEADLINE = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(600, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, LABEL, DATA, PRIORITY, TO_CHAR(SCHEDULED, 'YYYY-MM-DD HH24:MI:SS.FF9'),
               TO_CHAR(DEADLINE, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: DEADLINE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Deadline, 3: counts
DECLARE /* jobsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DEADLINE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 'finished',
               DEADLINE = NULL
        WHERE  ID = ID_HELD(i)
        AND    DEADLINE = TO_TIMESTAMP(DEADLINE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: DEADLINE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Deadline, 3: counts
DECLARE /* jobsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DEADLINE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 'failed',
               DEADLINE = NULL
        WHERE  ID = ID_HELD(i)
        AND    DEADLINE = TO_TIMESTAMP(DEADLINE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: DEADLINE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Deadline, 3: delay, 4: counts
DECLARE /* jobsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DEADLINE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    STATE = 'scheduled',
               SCHEDULED = CASE WHEN :3 > 0.0 THEN SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND') ELSE SCHEDULED END,
               DEADLINE = NULL
        WHERE  ID = ID_HELD(i)
        AND    DEADLINE = TO_TIMESTAMP(DEADLINE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 'running';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: DEADLINE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Deadline, 3: counts
DECLARE /* jobsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    DEADLINE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOBS
        SET    DEADLINE = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(600, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    DEADLINE = TO_TIMESTAMP(DEADLINE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATE = 'running';
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
SELECT /* jobsq.Extend */
       ID, TO_CHAR(DEADLINE, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   JOBS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* jobsq.Recover */ JOBS
SET    STATE = 'scheduled',
       DEADLINE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 'running'
           AND    DEADLINE <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    ROWNUM <= :1)
AND    STATE = 'running'
AND    DEADLINE <= SYS_EXTRACT_UTC(SYSTIMESTAMP);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
-- arguments: 1: limit
UPDATE /* jobsq.Redrive */ JOBS
SET    STATE = 'scheduled',
       DEADLINE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 'finished'
           AND    ROWNUM <= :1)
AND    STATE = 'finished';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
-- arguments: 1: limit
DELETE /* jobsq.Purge */ FROM JOBS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   JOBS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in LABEL (unique key JOBS_LABEL)
-- locks: the row, until commit; waits for who has it locked
-- index: LABEL
-- arguments: 1: new Label
SELECT /* jobsq.Enqueue */
       ID
FROM   JOBS
WHERE  LABEL = :1
FOR    UPDATE;

-- sql/enqueue_check.sql
-- enqueue: returns the row that enqueue_lock.sql found, if update_if holds for it: else it is left alone
-- locks: nothing more
-- index: LABEL
-- arguments: 1: new Label, 2: new Data, 3: new Scheduled
SELECT /* jobsq.Enqueue */
       ID
FROM   JOBS
WHERE  LABEL = :1
AND    (JOBS.state <> 'running' and (data <> :2 or JOBS.scheduled <> coalesce(TO_TIMESTAMP(:3, 'YYYY-MM-DD HH24:MI:SS.FF9'), SYS_EXTRACT_UTC(SYSTIMESTAMP))))
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: LABEL
-- arguments: 1: new Data, 2: new Priority, 3: new Scheduled, 4: new Label
UPDATE /* jobsq.Enqueue */ JOBS
SET    DATA = :1,
       PRIORITY = coalesce(:2, PRIORITY),
       STATE = 'scheduled',
       SCHEDULED = coalesce(TO_TIMESTAMP(:3, 'YYYY-MM-DD HH24:MI:SS.FF9'), SCHEDULED)
WHERE  LABEL = :4;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Label, 2: new Data, 3: new Priority, 4: new Scheduled, 5: new_key
INSERT /* jobsq.Enqueue */ INTO JOBS
       (LABEL, DATA, PRIORITY, SCHEDULED)
VALUES (:1, :2, coalesce(:3, 0),
        coalesce(TO_TIMESTAMP(:4, 'YYYY-MM-DD HH24:MI:SS.FF9'), SYS_EXTRACT_UTC(SYSTIMESTAMP)))
/* the new key */ RETURNING ID INTO :5;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* jobsq.Stats */
       count(CASE WHEN STATE = 'scheduled' AND SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'running' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'finished' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'scheduled' AND SCHEDULED > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'running' AND DEADLINE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATE = 'scheduled' AND SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN SCHEDULED END) AS DATE)) * 86400 AS OLDEST_READY
FROM   JOBS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
SELECT /* jobsq.Backlog */
       count(CASE WHEN SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN SCHEDULED > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN SCHEDULED END) AS DATE)) * 86400 AS OLDEST_READY
FROM   JOBS
WHERE  STATE = 'scheduled';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, PRIORITY DESC, ID, SCHEDULED)
-- arguments: 1: limit
SELECT /* jobsq.Peek */
       *
FROM   (
           SELECT ID, LABEL, DATA, PRIORITY,
                  TO_CHAR(SCHEDULED, 'YYYY-MM-DD HH24:MI:SS.FF9')
           FROM   JOBS
           WHERE  STATE = 'scheduled'
           AND    SCHEDULED <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           ORDER  BY PRIORITY DESC, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* jobsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* jobsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'LABEL', 'varchar2' FROM DUAL UNION ALL
           SELECT 'DATA', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SCHEDULED', 'timestamp' FROM DUAL UNION ALL
           SELECT 'DEADLINE', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* jobsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOBS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOBS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX JOBS_READY ON JOBS (STATE, PRIORITY DESC, ID, SCHEDULED) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
