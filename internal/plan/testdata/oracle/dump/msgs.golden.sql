-- Package msgsq uses the table APP.MSG_QUEUE as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MSG_QUEUE_MSGS_READY.
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
-- note: no order is said: rows are taken in the order of the key, MSG_ID

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE)
-- arguments: 1: param_list msgType []string, 2: limit, 3: worker Owner, 4: cursor
DECLARE /* msgsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(MSG_QUEUE MSG_QUEUE_MSGS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   APP.MSG_QUEUE
        WHERE  STATUS IS NULL
        AND    MSG_TYPE IN (:v0)
        ORDER  BY MSG_ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE APP.MSG_QUEUE
        SET    STATUS = 'BUSY',
               OWNER = :3,
               TAKEN = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT MSG_ID, MSG_TYPE, OWNER, TO_CHAR(TAKEN, 'YYYY-MM-DD HH24:MI:SS.FF9'),
               RETRIES, DATA
        FROM   APP.MSG_QUEUE
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TAKEN, OWNER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Taken, 3: batch Owner, 4: counts
DECLARE /* msgsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD raws := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    OWNER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE APP.MSG_QUEUE
        SET    STATUS = 'DONE'
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    OWNER = OWNER_HELD(i)
        AND    STATUS = 'BUSY';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TAKEN, OWNER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Taken, 3: batch Owner, 4: counts
DECLARE /* msgsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD raws := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    OWNER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE APP.MSG_QUEUE
        SET    STATUS = NULL,
               OWNER = NULL,
               TAKEN = NULL,
               RETRIES = RETRIES + 1
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    OWNER = OWNER_HELD(i)
        AND    STATUS = 'BUSY';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TAKEN, OWNER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Taken, 3: batch Owner, 4: counts
DECLARE /* msgsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD raws := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    OWNER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE APP.MSG_QUEUE
        SET    STATUS = 'DEAD',
               RETRIES = RETRIES + 1
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    OWNER = OWNER_HELD(i)
        AND    STATUS = 'BUSY';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TAKEN, OWNER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Taken, 3: batch Owner, 4: counts
DECLARE /* msgsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD raws := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    OWNER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE APP.MSG_QUEUE
        SET    STATUS = NULL,
               OWNER = NULL,
               TAKEN = NULL
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    OWNER = OWNER_HELD(i)
        AND    STATUS = 'BUSY';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TAKEN, OWNER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Taken, 3: batch Owner, 4: counts
DECLARE /* msgsq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD raws := :1;
    TAKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    OWNER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE APP.MSG_QUEUE
        SET    TAKEN = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TAKEN = TO_TIMESTAMP(TAKEN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    OWNER = OWNER_HELD(i)
        AND    STATUS = 'BUSY';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list MsgID
SELECT /* msgsq.Extend */
       MSG_ID, TO_CHAR(TAKEN, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   APP.MSG_QUEUE
WHERE  (MSG_ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* msgsq.Recover */ APP.MSG_QUEUE
SET    STATUS = NULL,
       OWNER = NULL,
       TAKEN = NULL,
       RETRIES = RETRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   APP.MSG_QUEUE
           WHERE  STATUS = 'BUSY'
           AND    RETRIES < 2
           AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 'BUSY'
AND    RETRIES < 2
AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND');

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* msgsq.Recover */ APP.MSG_QUEUE
SET    STATUS = 'DEAD',
       RETRIES = RETRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   APP.MSG_QUEUE
           WHERE  STATUS = 'BUSY'
           AND    RETRIES >= 2
           AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 'BUSY'
AND    RETRIES >= 2
AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE)
-- arguments: 1: limit
UPDATE /* msgsq.Redrive */ APP.MSG_QUEUE
SET    STATUS = NULL,
       OWNER = NULL,
       TAKEN = NULL,
       RETRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   APP.MSG_QUEUE
           WHERE  STATUS = 'DEAD'
           AND    ROWNUM <= :1)
AND    STATUS = 'DEAD';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE); it reads those that are not old enough as well, which one on (STATUS, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* msgsq.Purge */ FROM APP.MSG_QUEUE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   APP.MSG_QUEUE
           WHERE  STATUS = 'DONE'
           AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 'DONE'
AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, MSG_ID, MSG_TYPE); it reads those that are not old enough as well, which one on (STATUS, TAKEN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* msgsq.Purge */ FROM APP.MSG_QUEUE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   APP.MSG_QUEUE
           WHERE  STATUS = 'DEAD'
           AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 'DEAD'
AND    TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MsgID, 2: new MsgType, 3: new Data
INSERT /* msgsq.Enqueue */ INTO APP.MSG_QUEUE
       (MSG_ID, MSG_TYPE, DATA)
VALUES (coalesce(:1, SYS_GUID()), :2, :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* msgsq.Stats */
       count(CASE WHEN STATUS IS NULL THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'BUSY' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'DEAD' THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 'BUSY' AND TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATUS = 'BUSY' THEN TAKEN END) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   APP.MSG_QUEUE;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same MSG_TYPE is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param_list msgType []string
SELECT /* msgsq.StatsOf */
       count(CASE WHEN STATUS IS NULL THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'BUSY' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'DEAD' THEN 1 END) AS FAILED,
       count(CASE WHEN STATUS = 'BUSY' AND TAKEN <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATUS = 'BUSY' THEN TAKEN END) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   APP.MSG_QUEUE
WHERE  MSG_TYPE IN (:v0);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by MSG_TYPE
-- locks: none
-- index: (STATUS, MSG_ID, MSG_TYPE)
SELECT /* msgsq.Backlog */
       MSG_TYPE,
       count(*) AS READY
FROM   APP.MSG_QUEUE
WHERE  STATUS IS NULL
GROUP  BY MSG_TYPE
ORDER  BY MSG_TYPE;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, MSG_ID, MSG_TYPE)
-- arguments: 1: param_list msgType []string, 2: limit
SELECT /* msgsq.Peek */
       *
FROM   (
           SELECT MSG_ID, MSG_TYPE, RETRIES, DATA
           FROM   APP.MSG_QUEUE
           WHERE  STATUS IS NULL
           AND    MSG_TYPE IN (:v0)
           ORDER  BY MSG_ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* msgsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* msgsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'MSG_ID' AS name, 'raw' AS type FROM DUAL UNION ALL
           SELECT 'MSG_TYPE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'OWNER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN', 'timestamp' FROM DUAL UNION ALL
           SELECT 'RETRIES', 'number' FROM DUAL UNION ALL
           SELECT 'DATA', 'blob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = 'APP'
       AND have.table_name = 'MSG_QUEUE'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* msgsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MSG_QUEUE_MSGS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = 'APP'
           AND    have.table_name = 'MSG_QUEUE'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows of another MSG_TYPE are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX MSG_QUEUE_MSGS_READY ON APP.MSG_QUEUE (STATUS, MSG_ID, MSG_TYPE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
