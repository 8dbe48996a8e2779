-- Package filesq uses the tables FILES and FILES_ACQUIRED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to FILES_ACQUIRED, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in FILES_ACQUIRED tells that it is gone.
--
-- Besides the queue's own rows it writes JOURNAL (Enqueue), each in the transaction of the operation.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to FILES_ACQUIRED, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then adds to FILES_ACQUIRED
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* filesq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   FILES
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
-- arguments: 1: token Mark, 2: list ID
INSERT /* filesq.Claim */ INTO FILES_ACQUIRED
       (ID, ADDRESS, MARK)
SELECT held.ID, held.ADDRESS, :1
FROM   FILES held
WHERE  (held.ID = :v0);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* filesq.Claim */
       ID, ADDRESS, MARK
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
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
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
-- arguments: 1: list ID Mark
INSERT /* filesq.Fail */ INTO FILES
       (ID, ADDRESS)
SELECT held.ID, held.ADDRESS
FROM   FILES_ACQUIRED held
WHERE  ((held.ID = :v0 AND held.MARK = :v0));

-- sql/retry.sql
-- retry: running to ready
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark
DECLARE /* filesq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
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
-- arguments: 1: list ID Mark
INSERT /* filesq.Requeue */ INTO FILES
       (ID, ADDRESS)
SELECT held.ID, held.ADDRESS
FROM   FILES_ACQUIRED held
WHERE  ((held.ID = :v0 AND held.MARK = :v0));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark
DECLARE /* filesq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM FILES_ACQUIRED
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i);
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new_key
INSERT /* filesq.Enqueue */ INTO FILES
       (ADDRESS)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into JOURNAL for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* filesq.Enqueue */ INTO JOURNAL
       (WHAT, ID, ADDRESS)
SELECT 'file', held.ID, held.ADDRESS
FROM   FILES held
WHERE  (held.ID = :v0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       READY,
       RUNNING
FROM   (
           SELECT count(*) AS READY
           FROM   FILES
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS RUNNING
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
           SELECT ID, ADDRESS
           FROM   FILES
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
           SELECT 'ADDRESS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MARK', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES_ACQUIRED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of JOURNAL
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'WHAT' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'ID', 'number' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOURNAL'
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
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FILES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
