-- Package booksq uses the table BOOKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when the program starts
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was recovered and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until the program starts again; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates BOOKS_READY.
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
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (BUSY, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* booksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BOOKS BOOKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   BOOKS
        WHERE  BUSY = 0
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE BOOKS
        SET    BUSY = 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID
        FROM   BOOKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* booksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM BOOKS
        WHERE  ID = ID_HELD(i)
        AND    BUSY = 1;
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
DECLARE /* booksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BOOKS
        SET    BUSY = 0
        WHERE  ID = ID_HELD(i)
        AND    BUSY = 1;
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
DECLARE /* booksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BOOKS
        SET    BUSY = 0
        WHERE  ID = ID_HELD(i)
        AND    BUSY = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/recover.sql
-- recover: running to ready, when the program starts
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (BUSY, ID)
-- arguments: 1: limit
UPDATE /* booksq.Recover */ BOOKS
SET    BUSY = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   BOOKS
           WHERE  BUSY = 1
           AND    ROWNUM <= :1)
AND    BUSY = 1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* booksq.Enqueue */ INTO BOOKS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* booksq.Stats */
       count(CASE WHEN BUSY = 0 THEN 1 END) AS READY,
       count(CASE WHEN BUSY = 1 THEN 1 END) AS RUNNING
FROM   BOOKS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (BUSY, ID)
-- arguments: 1: limit
SELECT /* booksq.Peek */
       *
FROM   (
           SELECT ID
           FROM   BOOKS
           WHERE  BUSY = 0
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* booksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* booksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'BUSY', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BOOKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* booksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'BOOKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'BOOKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX BOOKS_READY ON BOOKS (BUSY, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
