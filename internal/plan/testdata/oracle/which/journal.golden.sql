-- Package journalq uses the table JOURNAL as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete); TAGS (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOURNAL_READY and JOURNAL_OTHERS.
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
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (HOLDER, ID)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* journalq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOURNAL JOURNAL_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOURNAL
        WHERE  HOLDER IS NULL
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE JOURNAL
        SET    HOLDER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, IDENT, HOLDER, WEIGHT
        FROM   JOURNAL
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: HOLDER as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Holder
SELECT /* journalq.Complete */
       ID
FROM   JOURNAL
WHERE  ((ID = :v0 AND HOLDER = :v0))
AND    HOLDER IS NOT NULL
FOR    UPDATE;

-- sql/complete_delete_journal.sql
-- complete: deletes rows from JOURNAL for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (IDENT)
-- arguments: 1: list ID Holder, 2: list ID
DELETE /* journalq.Complete */ FROM JOURNAL
WHERE  (IDENT) IN (
           SELECT held.IDENT
           FROM   JOURNAL held
           WHERE  ((held.ID = :v0 AND held.HOLDER = :v0))
           AND    (journal.id <= held.id))
AND    JOURNAL.HOLDER IS NULL
AND    NOT (JOURNAL.ID = :v0);

-- sql/complete_update_tags.sql
-- complete: updates rows of TAGS for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of TAGS one that begins with IDENT
-- arguments: 1: list ID Holder, 2: list ID Holder
UPDATE /* journalq.Complete */ TAGS
SET    (SEEN) = (
           SELECT 1
           FROM   JOURNAL held
           WHERE  ((held.ID = :v0 AND held.HOLDER = :v0))
           AND    (tags.lowest between 1 and held.weight)
           AND    TAGS.IDENT = held.IDENT
           AND    ROWNUM = 1)
WHERE  (IDENT) IN (
           SELECT held.IDENT
           FROM   JOURNAL held
           WHERE  ((held.ID = :v0 AND held.HOLDER = :v0))
           AND    (tags.lowest between 1 and held.weight));

-- sql/complete.sql
-- complete: running to done
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder
DECLARE /* journalq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM JOURNAL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    HOLDER IS NOT NULL;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* journalq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOURNAL
        SET    HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    HOLDER IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* journalq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE JOURNAL
        SET    HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    HOLDER IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Ident, 2: new Weight, 3: new_key
INSERT /* journalq.Enqueue */ INTO JOURNAL
       (IDENT, WEIGHT)
VALUES (:1, coalesce(:2, 0))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* journalq.Stats */
       count(CASE WHEN HOLDER IS NULL THEN 1 END) AS READY,
       count(CASE WHEN HOLDER IS NOT NULL THEN 1 END) AS RUNNING
FROM   JOURNAL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (HOLDER, ID)
-- arguments: 1: limit
SELECT /* journalq.Peek */
       *
FROM   (
           SELECT ID, IDENT, WEIGHT
           FROM   JOURNAL
           WHERE  HOLDER IS NULL
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* journalq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* journalq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'IDENT', 'varchar2' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOURNAL'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of TAGS
-- locks: none
SELECT /* journalq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SEEN' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'IDENT', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TAGS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* journalq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOURNAL_READY' AS name FROM DUAL UNION ALL
           SELECT 'JOURNAL_OTHERS' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOURNAL'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX JOURNAL_READY ON JOURNAL (HOLDER, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- finds the rows of other jobs that a step writes
CREATE INDEX JOURNAL_OTHERS ON JOURNAL (IDENT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
