-- Package filesq uses the tables FILES and FILES_ACQUIRED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (FILES_FAILED)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (FILES_FAILED), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to FILES_ACQUIRED, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes FILES_FAILED (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The tables need an index that they do not have yet: schema/indexes.sql creates FILES_ACQUIRED_EXPIRED.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to FILES_ACQUIRED, whose unique key lets one worker have it
-- note: tries are counted in column "TRIES" when they begin (on=claim)
-- note: rows are taken as they came, by column "ID"; order 1 at column "NOT_BEFORE" takes them by their time, and reads none that wait for theirs

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then adds to FILES_ACQUIRED
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* filesq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   FILES
        WHERE  (NOT_BEFORE <= SYSTIMESTAMP OR NOT_BEFORE IS NULL)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   FILES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, a row of FILES_ACQUIRED for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- arguments: 1: worker AcquiredBy, 2: token Mark, 3: list ID
INSERT /* filesq.Claim */ INTO FILES_ACQUIRED
       (ID, PATH, BYTES, TRIES, PROBLEM, ACQUIRED_BY, ACQUIRED_AT, LEASE_TILL, MARK)
SELECT held.ID, held.PATH, held.BYTES, held.TRIES + 1, held.PROBLEM, :1, SYSTIMESTAMP,
       SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'), :2
FROM   FILES held
WHERE  (held.ID = :v0);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* filesq.Claim */
       ID, PATH, BYTES, TRIES, PROBLEM,
       TO_CHAR(ACQUIRED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), MARK
FROM   FILES_ACQUIRED
WHERE  (ID = :v0);

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to FILES_ACQUIRED
-- locks: the rows it deletes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* filesq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        DELETE FROM FILES
        WHERE  ID = ID_PICKED(i);
END;

-- sql/complete.sql
-- complete: running to done
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* filesq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: MARK as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Mark
SELECT /* filesq.Fail */
       ID
FROM   FILES_ACQUIRED
WHERE  ((ID = :v0 AND MARK = :v0))
FOR    UPDATE;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to FILES before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: delay, 2: error, 3: list ID Mark
INSERT /* filesq.Fail */ INTO FILES
       (ID, PATH, BYTES, TRIES, NOT_BEFORE, PROBLEM)
SELECT held.ID, held.PATH, held.BYTES, held.TRIES,
       SYSTIMESTAMP + NUMTODSINTERVAL(:1, 'SECOND'), :2
FROM   FILES_ACQUIRED held
WHERE  ((held.ID = :v0 AND held.MARK = :v0));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark
DECLARE /* filesq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: MARK as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Mark
SELECT /* filesq.Fail */
       ID
FROM   FILES_ACQUIRED
WHERE  ((ID = :v0 AND MARK = :v0))
FOR    UPDATE;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to FILES_FAILED before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: error, 2: list ID Mark
INSERT /* filesq.Fail */ INTO FILES_FAILED
       (ID, PATH, TRIES, PROBLEM)
SELECT held.ID, held.PATH, held.TRIES, :1
FROM   FILES_ACQUIRED held
WHERE  ((held.ID = :v0 AND held.MARK = :v0));

-- sql/fail.sql
-- fail: running to failed
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark
DECLARE /* filesq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
END;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: MARK as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Mark
SELECT /* filesq.Requeue */
       ID
FROM   FILES_ACQUIRED
WHERE  ((ID = :v0 AND MARK = :v0))
FOR    UPDATE;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to FILES before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: delay, 2: delay, 3: list ID Mark
INSERT /* filesq.Requeue */ INTO FILES
       (ID, PATH, BYTES, TRIES, NOT_BEFORE, PROBLEM)
SELECT held.ID, held.PATH, held.BYTES, held.TRIES - 1,
       CASE WHEN :1 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND') ELSE SYSTIMESTAMP END,
       held.PROBLEM
FROM   FILES_ACQUIRED held
WHERE  ((held.ID = :v0 AND held.MARK = :v0));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark
DECLARE /* filesq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* filesq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE FILES_ACQUIRED
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
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
SELECT /* filesq.Extend */
       ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   FILES_ACQUIRED
WHERE  (ID = :v0);

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (LEASE_TILL)
-- arguments: 1: limit, 2: cursor
DECLARE /* filesq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   FILES_ACQUIRED
        WHERE  TRIES < 5
        AND    LEASE_TILL <= SYSTIMESTAMP
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   FILES_ACQUIRED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_move.sql
-- recover: the rows that recover_lock.sql locked go to FILES before recover.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* filesq.Recover */ INTO FILES
       (ID, PATH, BYTES, TRIES, PROBLEM)
SELECT held.ID, held.PATH, held.BYTES, held.TRIES, held.PROBLEM
FROM   FILES_ACQUIRED held
WHERE  (held.ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* filesq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    TRIES < 5;
END;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (LEASE_TILL)
-- arguments: 1: limit, 2: cursor
DECLARE /* filesq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   FILES_ACQUIRED
        WHERE  TRIES >= 5
        AND    LEASE_TILL <= SYSTIMESTAMP
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   FILES_ACQUIRED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to FILES_FAILED before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* filesq.Recover */ INTO FILES_FAILED
       (ID, PATH, TRIES, PROBLEM)
SELECT held.ID, held.PATH, held.TRIES, 'the claim ran out'
FROM   FILES_ACQUIRED held
WHERE  (held.ID = :v0);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* filesq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    TRIES >= 5;
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Path, 2: new Bytes, 3: new NotBefore, 4: new_key
INSERT /* filesq.Enqueue */ INTO FILES
       (PATH, BYTES, NOT_BEFORE)
VALUES (:1, coalesce(:2, 0), TO_TIMESTAMP_TZ(:3, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))
/* the new key */ RETURNING ID INTO :4;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       READY,
       DELAYED,
       OLDEST_READY,
       RUNNING,
       EXPIRED,
       OLDEST_RUNNING
FROM   (
           SELECT count(CASE WHEN (NOT_BEFORE <= SYSTIMESTAMP OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
                  count(CASE WHEN NOT_BEFORE > SYSTIMESTAMP THEN 1 END) AS DELAYED,
                  (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN (NOT_BEFORE <= SYSTIMESTAMP OR NOT_BEFORE IS NULL) THEN NOT_BEFORE END)) AS DATE)) * 86400 AS OLDEST_READY
           FROM   FILES
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS RUNNING,
                  count(CASE WHEN LEASE_TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
                  (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(ACQUIRED_AT)) AS DATE)) * 86400 AS OLDEST_RUNNING
           FROM   FILES_ACQUIRED
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* filesq.Peek */
       *
FROM   (
           SELECT ID, PATH, BYTES, TRIES, PROBLEM
           FROM   FILES
           WHERE  (NOT_BEFORE <= SYSTIMESTAMP OR NOT_BEFORE IS NULL)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'PATH', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BYTES', 'number' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'PROBLEM', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ACQUIRED_BY', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ACQUIRED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'MARK', 'raw' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES_ACQUIRED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of FILES_FAILED
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'PATH', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'PROBLEM', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES_FAILED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_ready.sql
-- verify: columns of FILES
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'PATH', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BYTES', 'number' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'NOT_BEFORE', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'PROBLEM', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'FILES_ACQUIRED_EXPIRED' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'FILES_ACQUIRED'
           AND    have.index_name = want.name);

-- serves Recover: claims that ran out
CREATE INDEX FILES_ACQUIRED_EXPIRED ON FILES_ACQUIRED (LEASE_TILL) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
