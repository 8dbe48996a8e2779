-- Package partsq uses the table PARTS as a queue of jobs on Oracle 19 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates PARTS_READY.
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
-- note: no order is said: rows are taken in the order of the key, ID
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in LOT, PLACE (unique key PARTS_PLACE): NOTE = {note} unless nil
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job
-- note: warning: a job that is done stays so when it is enqueued again, and is not run: qgen:on update set … at column STATE says what else becomes of it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* partsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PARTS PARTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PARTS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PARTS
        SET    STATE = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, LOT, PLACE, NOTE
        FROM   PARTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* partsq.Complete */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 'done'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* partsq.Fail */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 'new'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* partsq.Requeue */
    ID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 'new'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM PARTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 'done'
           AND    ROWNUM <= :1)
AND    STATE = 'done';

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in LOT, PLACE (unique key PARTS_PLACE)
-- locks: the row, until commit; waits for who has it locked
-- index: LOT, PLACE
-- arguments: 1: new Lot, 2: new Lot, 3: new Place, 4: new Place, 5: new Lot, 6: new Place
SELECT /* partsq.Enqueue */
       ID
FROM   PARTS
WHERE  (LOT = :1 OR LOT IS NULL AND :2 IS NULL)
AND    (PLACE = :3 OR PLACE IS NULL AND :4 IS NULL)
AND    (:5 IS NOT NULL OR :6 IS NOT NULL)
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: LOT, PLACE
-- arguments: 1: new Note, 2: new Lot, 3: new Lot, 4: new Place, 5: new Place, 6: new Lot, 7: new Place
UPDATE /* partsq.Enqueue */ PARTS
SET    NOTE = coalesce(:1, NOTE)
WHERE  (LOT = :2 OR LOT IS NULL AND :3 IS NULL)
AND    (PLACE = :4 OR PLACE IS NULL AND :5 IS NULL)
AND    (:6 IS NOT NULL OR :7 IS NOT NULL);

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new ID, 2: new Lot, 3: new Place, 4: new Note
INSERT /* partsq.Enqueue */ INTO PARTS
       (ID, LOT, PLACE, NOTE)
VALUES (:1, :2, :3, :4);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'done' THEN 1 END) AS DONE
FROM   PARTS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* partsq.Backlog */
       count(*) AS READY
FROM   PARTS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* partsq.Peek */
       *
FROM   (
           SELECT ID, LOT, PLACE, NOTE
           FROM   PARTS
           WHERE  STATE = 'new'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'LOT', 'number' FROM DUAL UNION ALL
           SELECT 'PLACE', 'number' FROM DUAL UNION ALL
           SELECT 'NOTE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PARTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PARTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PARTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PARTS_READY ON PARTS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
