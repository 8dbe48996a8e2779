-- Package stepsq uses the table STEPS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy guarded: the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken.
--
-- The fence is at level token: every claim adds a row to CLAIMS and leaves its ID in the rows of its jobs, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing. The rows of claims that have ended stay there: one may go when no job holds its ID.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes CLAIMS (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates STEPS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       from=companion adds a row between finding jobs and marking them
--   lease_table  from=companion adds a row between finding jobs and marking them
--   hold         from=companion adds a row between finding jobs and marking them
--   partition    from=companion adds a row between finding jobs and marking them
--   returning    from=companion adds a row between finding jobs and marking them
--   block        from=companion adds a row between finding jobs and marking them
--   token        from=companion adds a row between finding jobs and marking them
--   lock_update  rows of the table have no place by which a block could lock them
--   advisory     from=companion adds a row between finding jobs and marking them
-- * guarded      the row whose key is the token is added when jobs are found, and not before (from=companion), and the old state is compared when a row is taken
--   pop          from=companion adds a row between finding jobs and marking them
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, ID
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* stepsq.Claim */
       *
FROM   (
           SELECT ID
           FROM   STEPS
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- arguments: 1: list ID
SELECT /* stepsq.Claim */
       ID
FROM   STEPS
WHERE  (ID = :v0)
AND    STATE = 'N'
FOR    UPDATE;

-- sql/claim_batch.sql
-- claim: one row of CLAIMS for the rows that claim_lock.sql locked; claim.sql then writes its ID to them
-- locks: nothing that others wait for
-- index: none; it reads nothing
-- arguments: 1: new_key
INSERT /* stepsq.Claim */ INTO CLAIMS
       (HOLDER, MADE_AT)
VALUES ('steps', SYSTIMESTAMP)
/* the new key */ RETURNING ID INTO :1;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: token ClaimID
DECLARE /* stepsq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE STEPS
        SET    STATE = 'A',
               CLAIM_ID = :2
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* stepsq.Claim */
       ID, CLAIM_ID
FROM   STEPS
WHERE  (ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: CLAIM_ID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimID, 3: counts
DECLARE /* stepsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIM_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE STEPS
        SET    STATE = 'D'
        WHERE  ID = ID_HELD(i)
        AND    CLAIM_ID = CLAIM_ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: CLAIM_ID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimID, 3: counts
DECLARE /* stepsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIM_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE STEPS
        SET    STATE = 'N',
               CLAIM_ID = NULL
        WHERE  ID = ID_HELD(i)
        AND    CLAIM_ID = CLAIM_ID_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: CLAIM_ID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimID, 3: counts
DECLARE /* stepsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIM_ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE STEPS
        SET    STATE = 'N',
               CLAIM_ID = NULL
        WHERE  ID = ID_HELD(i)
        AND    CLAIM_ID = CLAIM_ID_HELD(i)
        AND    STATE = 'A';
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
DELETE /* stepsq.Purge */ FROM STEPS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   STEPS
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* stepsq.Enqueue */ INTO STEPS
       (ID, STATE)
VALUES (:1, 'N');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stepsq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE
FROM   STEPS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* stepsq.Backlog */
       count(*) AS READY
FROM   STEPS
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* stepsq.Peek */
       *
FROM   (
           SELECT ID
           FROM   STEPS
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stepsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'CLAIM_ID', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'STEPS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of CLAIMS
-- locks: none
SELECT /* stepsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MADE_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CLAIMS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stepsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'STEPS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'STEPS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX STEPS_READY ON STEPS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
