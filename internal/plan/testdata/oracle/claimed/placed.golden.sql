-- Package placedq uses the table PLACED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is claimed or running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a worker that dies leaves it as it leaves a running one.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PLACED_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* placedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PLACED PLACED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PLACED
        WHERE  STATE = 'N'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PLACED
        SET    STATE = 'A',
               HOLDER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, HOLDER, BEGUN
        FROM   PLACED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/start.sql
-- start: claimed to running
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: given place *string, 4: counts
DECLARE /* placedq.Start */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PLACED
        SET    STATE = 'R',
               PLACE = :3,
               BEGUN = BEGUN + 1
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/start_read.sql
-- start: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* placedq.Start */
       ID, BEGUN
FROM   PLACED
WHERE  (ID = :v0);

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* placedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PLACED
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('A', 'R');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: claimed or running to ready
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* placedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PLACED
        SET    STATE = 'N',
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('A', 'R');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* placedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PLACED
        SET    STATE = 'N',
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('A', 'R');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* placedq.Purge */ FROM PLACED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PLACED
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Begun, 2: new_key
INSERT /* placedq.Enqueue */ INTO PLACED
       (BEGUN)
VALUES (coalesce(:1, 0))
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* placedq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS CLAIMED,
       count(CASE WHEN STATE = 'R' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE
FROM   PLACED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* placedq.Backlog */
       count(*) AS READY
FROM   PLACED
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* placedq.Peek */
       *
FROM   (
           SELECT ID, BEGUN
           FROM   PLACED
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* placedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* placedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PLACE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BEGUN', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PLACED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* placedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PLACED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PLACED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PLACED_READY ON PLACED (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
