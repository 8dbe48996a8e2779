-- Package lockedq uses the table MESSAGES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy lock_update: strategy=lock_update is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=lock_update is asked for
--   lease_table  strategy=lock_update is asked for
--   hold         strategy=lock_update is asked for
--   partition    strategy=lock_update is asked for
--   returning    strategy=lock_update is asked for
--   block        strategy=lock_update is asked for
--   token        strategy=lock_update is asked for
-- * lock_update  strategy=lock_update is asked for
--   advisory     strategy=lock_update is asked for
--   guarded      strategy=lock_update is asked for
--   pop          strategy=lock_update is asked for
-- note: a row whose claim has run out is claimed again, since nothing but column "TAKEN" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a unique key lets no two rows have one token: every claim leaves a fresh value in each row

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* lockedq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MESSAGES
        WHERE  (TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') OR TAKEN IS NULL)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   MESSAGES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* lockedq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE MESSAGES
        SET    HANDLE = LOWER(RAWTOHEX(SYS_GUID())),
               TAKEN = SYSTIMESTAMP
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* lockedq.Claim */
       ID, HANDLE, TO_CHAR(TAKEN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), BODY
FROM   MESSAGES
WHERE  (ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: HANDLE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle, 3: counts
DECLARE /* lockedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HANDLE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM MESSAGES
        WHERE  ID = ID_HELD(i)
        AND    HANDLE = HANDLE_HELD(i)
        AND    TAKEN IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: HANDLE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle, 3: counts
DECLARE /* lockedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HANDLE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MESSAGES
        SET    HANDLE = NULL,
               TAKEN = NULL
        WHERE  ID = ID_HELD(i)
        AND    HANDLE = HANDLE_HELD(i)
        AND    TAKEN IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: HANDLE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle, 3: counts
DECLARE /* lockedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HANDLE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MESSAGES
        SET    HANDLE = NULL,
               TAKEN = NULL
        WHERE  ID = ID_HELD(i)
        AND    HANDLE = HANDLE_HELD(i)
        AND    TAKEN IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: HANDLE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Handle, 3: counts
DECLARE /* lockedq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HANDLE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MESSAGES
        SET    TAKEN = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    HANDLE = HANDLE_HELD(i)
        AND    TAKEN IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body, 2: new_key
INSERT /* lockedq.Enqueue */ INTO MESSAGES
       (BODY)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lockedq.Stats */
       count(CASE WHEN (TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') OR TAKEN IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN TAKEN IS NOT NULL AND TAKEN > SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') THEN 1 END) AS RUNNING,
       count(CASE WHEN TAKEN IS NOT NULL AND TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN TAKEN IS NOT NULL AND TAKEN > SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') THEN TAKEN END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   MESSAGES;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* lockedq.Peek */
       *
FROM   (
           SELECT ID, BODY
           FROM   MESSAGES
           WHERE  (TAKEN <= SYSTIMESTAMP - NUMTODSINTERVAL(30, 'SECOND') OR TAKEN IS NULL)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lockedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lockedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'HANDLE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MESSAGES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
