-- Package reckonedq uses the table RECKONED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> ready, due again
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- A job never ends: Complete makes it ready again, due after a time that the database works out of the row. Who wants one to end deletes its row.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates RECKONED_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  a row of the queue is written when its job ends and not before, and with cycle no job ends
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (RUN_AT, ID)
-- arguments: 1: held_list ID, 2: limit, 3: cursor
DECLARE /* reckonedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(RECKONED RECKONED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   RECKONED
        WHERE  RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
AND    NOT (ID = :v0)
        ORDER  BY RUN_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID, RUN_AT, WAIT_S
        FROM   RECKONED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* reckonedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RECKONED
        SET    RUN_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + (RECKONED.wait_s * 2))
        WHERE  ID = ID_HELD(i)
        AND    RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: delay, 3: counts
DECLARE /* reckonedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RECKONED
        SET    RUN_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + :2)
        WHERE  ID = ID_HELD(i)
        AND    RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: delay, 3: counts
DECLARE /* reckonedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RECKONED
        SET    RUN_AT = CASE WHEN :2 > 0.0 THEN FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + :2) ELSE RUN_AT END
        WHERE  ID = ID_HELD(i)
        AND    RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new WaitS, 3: new_key
INSERT /* reckonedq.Enqueue */ INTO RECKONED
       (RUN_AT, WAIT_S)
VALUES (coalesce(:1, FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)),
        coalesce(:2, 60))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* reckonedq.Stats */
       count(CASE WHEN RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS DELAYED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN RUN_AT END) AS OLDEST_READY
FROM   RECKONED;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (RUN_AT, ID)
-- arguments: 1: limit
SELECT /* reckonedq.Peek */
       *
FROM   (
           SELECT ID, RUN_AT, WAIT_S
           FROM   RECKONED
           WHERE  RUN_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
           ORDER  BY RUN_AT, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* reckonedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* reckonedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'number' FROM DUAL UNION ALL
           SELECT 'WAIT_S', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'RECKONED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* reckonedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'RECKONED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'RECKONED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX RECKONED_READY ON RECKONED (RUN_AT, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
