-- Package talliedq uses the table TALLIED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TALLIED_READY.
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
-- note: rows are taken as they came, by column "ID"; order 1 at column "RUN_AT" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit, 2: cursor
DECLARE /* talliedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TALLIED TALLIED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TALLIED
        WHERE  STATE = 'N'
        AND    RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        AND    TRIES > 0
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TALLIED
        SET    STATE = 'A'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TRIES, RUN_AT, WAIT_M
        FROM   TALLIED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* talliedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TALLIED
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* talliedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TALLIED
        SET    STATE = 'N',
               TRIES = TRIES - 1,
               RUN_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + ((TALLIED.wait_m * (3 - TRIES + 1)) * 60))
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* talliedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TALLIED
        SET    STATE = 'E',
               TRIES = 0
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: delay, 3: counts
DECLARE /* talliedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TALLIED
        SET    STATE = 'N',
               RUN_AT = CASE WHEN :2 > 0.0 THEN FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + :2) ELSE RUN_AT END
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
UPDATE /* talliedq.Redrive */ TALLIED
SET    STATE = 'N',
       TRIES = 3
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TALLIED
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
DELETE /* talliedq.Purge */ FROM TALLIED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TALLIED
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
DELETE /* talliedq.Purge */ FROM TALLIED
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TALLIED
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitM, 3: new_key
INSERT /* talliedq.Enqueue */ INTO TALLIED
       (RUN_AT, WAIT_M)
VALUES (coalesce(:1, FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)),
        coalesce(:2, 1))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* talliedq.Stats */
       count(CASE WHEN STATE = 'N' AND RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) AND TRIES > 0 THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND TRIES > 0 AND RUN_AT > FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS DELAYED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN STATE = 'N' AND RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) AND TRIES > 0 THEN RUN_AT END) AS OLDEST_READY
FROM   TALLIED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID, RUN_AT); it reads others as well
SELECT /* talliedq.Backlog */
       count(CASE WHEN RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS DELAYED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN RUN_AT END) AS OLDEST_READY
FROM   TALLIED
WHERE  STATE = 'N'
AND    TRIES > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
SELECT /* talliedq.Peek */
       *
FROM   (
           SELECT ID, TRIES, RUN_AT, WAIT_M
           FROM   TALLIED
           WHERE  STATE = 'N'
           AND    RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
           AND    TRIES > 0
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* talliedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* talliedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'number' FROM DUAL UNION ALL
           SELECT 'WAIT_M', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TALLIED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* talliedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'TALLIED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TALLIED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX TALLIED_READY ON TALLIED (STATE, ID, RUN_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
