-- Package mailsq uses the table MAILS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MAILS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: warning: purge_if names no column that tells which rows run, so Purge removes such rows, too, and whoever works on one of them gets ErrLost; and not (SENT = 2) leaves them out
-- note: rows are taken as they came, by column "ID"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (SENT, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* mailsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(MAILS MAILS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  SENT = 0
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    SENT = 2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(INSERTED, 'YYYY-MM-DD HH24:MI:SS.FF9'), HOST
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* mailsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    SENT = 1
        WHERE  ID = ID_HELD(i)
        AND    SENT = 2;
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
DECLARE /* mailsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    SENT = 0
        WHERE  ID = ID_HELD(i)
        AND    SENT = 2;
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
DECLARE /* mailsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    SENT = 0
        WHERE  ID = ID_HELD(i)
        AND    SENT = 2;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: whichever finds the rows of purge_if
-- arguments: 1: param before time.Time, 2: param host string, 3: limit, 4: param before time.Time, 5: param host string
DELETE /* mailsq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  (inserted < TO_TIMESTAMP(:1, 'YYYY-MM-DD HH24:MI:SS.FF9') and host <> :2)
           AND    ROWNUM <= :3)
AND    (inserted < TO_TIMESTAMP(:4, 'YYYY-MM-DD HH24:MI:SS.FF9') and host <> :5);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Host, 2: new_key
INSERT /* mailsq.Enqueue */ INTO MAILS
       (INSERTED, HOST)
VALUES (SYS_EXTRACT_UTC(SYSTIMESTAMP), :1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN SENT = 0 THEN 1 END) AS READY,
       count(CASE WHEN SENT = 2 THEN 1 END) AS RUNNING,
       count(CASE WHEN SENT = 1 THEN 1 END) AS DONE,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN SENT = 0 THEN INSERTED END) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (SENT, ID)
SELECT /* mailsq.Backlog */
       count(*) AS READY,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(INSERTED) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS
WHERE  SENT = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (SENT, ID)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(INSERTED, 'YYYY-MM-DD HH24:MI:SS.FF9'), HOST
           FROM   MAILS
           WHERE  SENT = 0
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
           SELECT 'INSERTED', 'timestamp' FROM DUAL UNION ALL
           SELECT 'HOST', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SENT', 'number' FROM DUAL
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
CREATE INDEX MAILS_READY ON MAILS (SENT, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
