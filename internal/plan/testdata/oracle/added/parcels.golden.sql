-- Package parcelsq uses the table PARCELS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes JOURNAL (Enqueue, Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PARCELS_READY.
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
-- note: no order is said: rows are taken in the order of the key, DEPOT, CODE
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, DEPOT, CODE)
-- arguments: 1: limit, 2: cursor
DECLARE /* parcelsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PARCELS PARCELS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PARCELS
        WHERE  STATE = 'new'
        ORDER  BY DEPOT, CODE
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PARCELS
        SET    STATE = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT DEPOT, CODE
        FROM   PARCELS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Depot, 2: batch Code, 3: counts
DECLARE /* parcelsq.Complete */
    DEPOT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. DEPOT_HELD.COUNT
        UPDATE PARCELS
        SET    STATE = 'sent'
        WHERE  DEPOT = DEPOT_HELD(i)
        AND    CODE = CODE_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. DEPOT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Depot, 2: batch Code, 3: counts
DECLARE /* parcelsq.Fail */
    DEPOT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. DEPOT_HELD.COUNT
        UPDATE PARCELS
        SET    STATE = 'new'
        WHERE  DEPOT = DEPOT_HELD(i)
        AND    CODE = CODE_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. DEPOT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Depot, 2: batch Code, 3: counts
DECLARE /* parcelsq.Requeue */
    DEPOT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CODE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. DEPOT_HELD.COUNT
        UPDATE PARCELS
        SET    STATE = 'new'
        WHERE  DEPOT = DEPOT_HELD(i)
        AND    CODE = CODE_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. DEPOT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, DEPOT, CODE)
-- arguments: 1: limit, 2: cursor
DECLARE /* parcelsq.Purge */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   PARCELS
        WHERE  STATE = 'sent'
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT DEPOT, CODE
        FROM   PARCELS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/purge_done_delete_journal.sql
-- purge_done: deletes rows from JOURNAL for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of JOURNAL one that begins with WHAT, ID
-- arguments: 1: list Depot Code
DELETE /* parcelsq.Purge */ FROM JOURNAL
WHERE  (WHAT, ID) IN (
           SELECT held.CODE, held.DEPOT
           FROM   PARCELS held
           WHERE  ((held.DEPOT = :v0 AND held.CODE = :v0)));

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Depot, 2: batch Code
DECLARE /* parcelsq.Purge */
    DEPOT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CODE_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. DEPOT_HELD.COUNT
        DELETE FROM PARCELS
        WHERE  DEPOT = DEPOT_HELD(i)
        AND    CODE = CODE_HELD(i)
        AND    STATE = 'sent';
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Depot, 2: new Code
INSERT /* parcelsq.Enqueue */ INTO PARCELS
       (DEPOT, CODE)
VALUES (:1, :2);

-- sql/enqueue_find.sql
-- enqueue: finds the new rows by the keys that they were given, which a column may round or fill up
-- locks: none
-- index: the key
-- arguments: 1: list Depot Code
SELECT /* parcelsq.Enqueue */
       DEPOT, CODE
FROM   PARCELS
WHERE  ((DEPOT = :v0 AND CODE = :v0));

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into JOURNAL for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list Depot Code
INSERT /* parcelsq.Enqueue */ INTO JOURNAL
       (WHAT, ID, ADDRESS)
SELECT held.CODE, held.DEPOT, held.STATE
FROM   PARCELS held
WHERE  ((held.DEPOT = :v0 AND held.CODE = :v0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE
FROM   PARCELS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, DEPOT, CODE)
SELECT /* parcelsq.Backlog */
       count(*) AS READY
FROM   PARCELS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, DEPOT, CODE)
-- arguments: 1: limit
SELECT /* parcelsq.Peek */
       *
FROM   (
           SELECT DEPOT, CODE
           FROM   PARCELS
           WHERE  STATE = 'new'
           ORDER  BY DEPOT, CODE
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* parcelsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'DEPOT' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'CODE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PARCELS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of JOURNAL
-- locks: none
SELECT /* parcelsq.Verify */
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* parcelsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PARCELS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PARCELS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PARCELS_READY ON PARCELS (STATE, DEPOT, CODE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
