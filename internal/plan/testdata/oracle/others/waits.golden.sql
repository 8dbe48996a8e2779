-- Package waitsq uses the table WAITS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete, Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates WAITS_READY and WAITS_OTHERS.
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
-- note: no order is said: rows are taken in the order of the key, SITE, NO
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, SITE, NO)
-- arguments: 1: limit, 2: token Token, 3: cursor
DECLARE /* waitsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(WAITS WAITS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   WAITS
        WHERE  STATE = 'new'
        ORDER  BY SITE, NO
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE WAITS
        SET    STATE = 'busy',
               TOKEN = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT SITE, NO, AFTER, TRIES, TOKEN
        FROM   WAITS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Site No Token
SELECT /* waitsq.Complete */
       SITE, NO
FROM   WAITS
WHERE  ((SITE = :v0 AND NO = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete_update_waits.sql
-- complete: updates rows of WAITS for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (SITE, AFTER)
-- arguments: 1: list Site No Token, 2: list Site No Token, 3: list Site No
UPDATE /* waitsq.Complete */ WAITS
SET    (STATE) = (
           SELECT 'new'
           FROM   WAITS held
           WHERE  ((held.SITE = :v0 AND held.NO = :v0 AND held.TOKEN = :v0))
           AND    WAITS.SITE = held.SITE
           AND    WAITS.AFTER = held.NO
           AND    ROWNUM = 1)
WHERE  (SITE, AFTER) IN (
           SELECT held.SITE, held.NO
           FROM   WAITS held
           WHERE  ((held.SITE = :v0 AND held.NO = :v0 AND held.TOKEN = :v0)))
AND    WAITS.STATE = 'waiting'
AND    NOT ((WAITS.SITE = :v0 AND WAITS.NO = :v0));

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
DECLARE /* waitsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    SITE_HELD DBMS_SQL.VARCHAR2A := :1;
    NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD raws := :3;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        DELETE FROM WAITS
        WHERE  SITE = SITE_HELD(i)
        AND    NO = NO_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch No, 3: batch Token, 4: counts
DECLARE /* waitsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    SITE_HELD DBMS_SQL.VARCHAR2A := :1;
    NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD raws := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE WAITS
        SET    STATE = 'new',
               TRIES = TRIES + 1,
               TOKEN = NULL
        WHERE  SITE = SITE_HELD(i)
        AND    NO = NO_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. SITE_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Site No Token
SELECT /* waitsq.Fail */
       SITE, NO
FROM   WAITS
WHERE  ((SITE = :v0 AND NO = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail_update_waits.sql
-- fail: updates rows of WAITS for the rows that fail_lock.sql locked, before fail.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (SITE, AFTER)
-- arguments: 1: list Site No Token, 2: list Site No Token, 3: list Site No
UPDATE /* waitsq.Fail */ WAITS
SET    (STATE) = (
           SELECT 'failed'
           FROM   WAITS held
           WHERE  ((held.SITE = :v0 AND held.NO = :v0 AND held.TOKEN = :v0))
           AND    WAITS.SITE = held.SITE
           AND    WAITS.AFTER = held.NO
           AND    ROWNUM = 1)
WHERE  (SITE, AFTER) IN (
           SELECT held.SITE, held.NO
           FROM   WAITS held
           WHERE  ((held.SITE = :v0 AND held.NO = :v0 AND held.TOKEN = :v0)))
AND    WAITS.STATE IN ('waiting', 'new')
AND    NOT ((WAITS.SITE = :v0 AND WAITS.NO = :v0));

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch No, 3: batch Token
DECLARE /* waitsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    SITE_HELD DBMS_SQL.VARCHAR2A := :1;
    NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD raws := :3;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE WAITS
        SET    STATE = 'failed',
               TRIES = TRIES + 1
        WHERE  SITE = SITE_HELD(i)
        AND    NO = NO_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch No, 3: batch Token, 4: counts
DECLARE /* waitsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    SITE_HELD DBMS_SQL.VARCHAR2A := :1;
    NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD raws := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE WAITS
        SET    STATE = 'new',
               TOKEN = NULL
        WHERE  SITE = SITE_HELD(i)
        AND    NO = NO_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. SITE_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, NO)
-- arguments: 1: limit
UPDATE /* waitsq.Redrive */ WAITS
SET    STATE = 'new',
       TRIES = 0,
       TOKEN = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   WAITS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, NO)
-- arguments: 1: limit
DELETE /* waitsq.Purge */ FROM WAITS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   WAITS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new No, 3: new After
INSERT /* waitsq.Enqueue */ INTO WAITS
       (SITE, NO, AFTER, STATE)
VALUES (:1, :2, :3, 'new');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED
FROM   WAITS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, SITE, NO)
SELECT /* waitsq.Backlog */
       count(*) AS READY
FROM   WAITS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, SITE, NO)
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       *
FROM   (
           SELECT SITE, NO, AFTER, TRIES
           FROM   WAITS
           WHERE  STATE = 'new'
           ORDER  BY SITE, NO
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SITE' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'NO', 'number' FROM DUAL UNION ALL
           SELECT 'AFTER', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'raw' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'WAITS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* waitsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'WAITS_READY' AS name FROM DUAL UNION ALL
           SELECT 'WAITS_OTHERS' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'WAITS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX WAITS_READY ON WAITS (STATE, SITE, NO) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- finds the rows of other jobs that a step writes
CREATE INDEX WAITS_OTHERS ON WAITS (SITE, AFTER) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
