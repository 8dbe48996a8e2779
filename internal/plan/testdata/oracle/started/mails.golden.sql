-- Package mailsq uses the table MAILS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
-- 	running  --Recover---------> failed, when the program starts and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running and names the worker of its claim. A worker that comes late, after the job was recovered and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and Recover takes it as it takes a running one.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until the program starts again; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MAILS_READY.
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
-- note: rows are taken as they came, by column "ID"

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: worker Node, 3: cursor
DECLARE /* mailsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(MAILS MAILS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  STATE = 'N'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    STATE = 'C',
               NODE = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TRIES, NODE
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/start.sql
-- start: claimed to running
-- fence: NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Node, 3: counts
DECLARE /* mailsq.Start */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    NODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'A'
        WHERE  ID = ID_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'C';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Node, 3: counts
DECLARE /* mailsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    NODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE IN ('C', 'A');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: claimed or running to ready, one try used
-- fence: NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Node, 3: counts
DECLARE /* mailsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    NODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'N',
               TRIES = TRIES + 1,
               NODE = NULL
        WHERE  ID = ID_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE IN ('C', 'A');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Node, 3: counts
DECLARE /* mailsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    NODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'F',
               TRIES = TRIES + 1
        WHERE  ID = ID_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE IN ('C', 'A');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Node, 3: counts
DECLARE /* mailsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    NODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'N',
               NODE = NULL
        WHERE  ID = ID_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE IN ('C', 'A');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: claimed or running to ready, when the program starts
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ MAILS
SET    STATE = 'N',
       TRIES = TRIES + 1,
       NODE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE IN ('C', 'A')
           AND    TRIES < 1
           AND    ROWNUM <= :1)
AND    STATE IN ('C', 'A')
AND    TRIES < 1;

-- sql/recover_failed.sql
-- recover_failed: claimed or running with no tries left to failed, when the program starts
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ MAILS
SET    STATE = 'F',
       TRIES = TRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE IN ('C', 'A')
           AND    TRIES >= 1
           AND    ROWNUM <= :1)
AND    STATE IN ('C', 'A')
AND    TRIES >= 1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ MAILS
SET    STATE = 'N',
       TRIES = 0,
       NODE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'F'
           AND    ROWNUM <= :1)
AND    STATE = 'F';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'F'
           AND    ROWNUM <= :1)
AND    STATE = 'F';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* mailsq.Enqueue */ INTO MAILS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'C' THEN 1 END) AS CLAIMED,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'F' THEN 1 END) AS FAILED
FROM   MAILS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* mailsq.Backlog */
       count(*) AS READY
FROM   MAILS
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       *
FROM   (
           SELECT ID, TRIES
           FROM   MAILS
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'NODE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MAILS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MAILS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'MAILS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX MAILS_READY ON MAILS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
