-- Package eventsq uses the table EVENTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Claims are rows of the table EVENTS_LEASE, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EVENTS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: column "WEDGE_REASON" gets the error of a job that fails for good alone, since a row with one is not ready
-- note: rows are taken as they came, by column "ID"

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (WEDGE_REASON, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* eventsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EVENTS EVENTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EVENTS
        WHERE  WEDGE_REASON IS NULL
        AND    NOT EXISTS (SELECT 1 FROM EVENTS_LEASE WHERE EVENTS_LEASE.ID = EVENTS.ID AND NOT (EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS < 5))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   EVENTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of EVENTS_LEASE for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch ID, 2: token Token, 3: worker Worker
DECLARE /* eventsq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        MERGE INTO EVENTS_LEASE
        USING (SELECT ID_PICKED(i) AS ID FROM DUAL) picked
        ON    (EVENTS_LEASE.ID = picked.ID)
        WHEN MATCHED THEN
            UPDATE SET TOKEN = :2,
                       WORKER = :3,
                       CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(120, 'SECOND'),
                       ATTEMPTS = EVENTS_LEASE.ATTEMPTS + 1
            WHERE  EVENTS_LEASE.FAILED_AT IS NULL
            AND    EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP
            AND    EVENTS_LEASE.ATTEMPTS < 5
        WHEN NOT MATCHED THEN
            INSERT (ID, TOKEN, WORKER, CLAIMED_UNTIL, ATTEMPTS)
            VALUES (picked.ID, :2, :3, SYSTIMESTAMP + NUMTODSINTERVAL(120, 'SECOND'), 1);
END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of EVENTS_LEASE, and the key
-- arguments: 1: token Token
SELECT /* eventsq.Claim */
       EVENTS.ID, EVENTS.CONTENT, EVENTS_LEASE.TOKEN,
       TO_CHAR(EVENTS_LEASE.CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       EVENTS_LEASE.ATTEMPTS, EVENTS_LEASE.ERROR
FROM   EVENTS_LEASE, EVENTS
WHERE  EVENTS_LEASE.TOKEN = :1
AND    EVENTS_LEASE.ID = EVENTS.ID
AND    EVENTS.WEDGE_REASON IS NULL;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* eventsq.Complete */
       ID
FROM   EVENTS
WHERE  (ID = :v0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* eventsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM EVENTS_LEASE
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* eventsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM EVENTS
        WHERE  ID = ID_HELD(i)
        AND    WEDGE_REASON IS NULL;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: error, 5: counts
DECLARE /* eventsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ERROR = :4
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* eventsq.Fail */
       ID
FROM   EVENTS
WHERE  (ID = :v0)
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* eventsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM EVENTS_LEASE
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: error
DECLARE /* eventsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    WEDGE_REASON = UTL_RAW.CAST_TO_RAW(:2)
        WHERE  ID = ID_HELD(i)
        AND    WEDGE_REASON IS NULL;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: counts
DECLARE /* eventsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ATTEMPTS = ATTEMPTS - 1
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* eventsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS_LEASE
        SET    CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(120, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* eventsq.Extend */
       ID, TO_CHAR(CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   EVENTS_LEASE
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: EVENTS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ EVENTS_LEASE
SET    TOKEN = NULL,
       WORKER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS_LEASE
           WHERE  FAILED_AT IS NULL
           AND    TOKEN IS NOT NULL
           AND    ATTEMPTS < 5
           AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NULL
AND    TOKEN IS NOT NULL
AND    ATTEMPTS < 5
AND    (EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (WEDGE_REASON, ID); it reads others as well
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ EVENTS
SET    WEDGE_REASON = UTL_RAW.CAST_TO_RAW('the claim ran out')
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  WEDGE_REASON IS NULL
           AND    (EXISTS (SELECT 1 FROM EVENTS_LEASE WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS >= 5))
           AND    ROWNUM <= :1)
AND    WEDGE_REASON IS NULL
AND    (EXISTS (SELECT 1 FROM EVENTS_LEASE WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS >= 5));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: EVENTS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
DELETE /* eventsq.Recover */ FROM EVENTS_LEASE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS_LEASE
           WHERE  (NOT EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    (NOT EXISTS (SELECT 1 FROM EVENTS WHERE EVENTS_LEASE.ID = EVENTS.ID AND EVENTS.WEDGE_REASON IS NULL))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (WEDGE_REASON, ID)
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ EVENTS
SET    WEDGE_REASON = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  WEDGE_REASON IS NOT NULL
           AND    ROWNUM <= :1)
AND    WEDGE_REASON IS NOT NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (WEDGE_REASON, ID)
-- arguments: 1: limit
DELETE /* eventsq.Purge */ FROM EVENTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  WEDGE_REASON IS NOT NULL
           AND    ROWNUM <= :1)
AND    WEDGE_REASON IS NOT NULL;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Content, 2: new_key
INSERT /* eventsq.Enqueue */ INTO EVENTS
       (CONTENT)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN EVENTS.WEDGE_REASON IS NULL AND (EVENTS_LEASE.ID IS NULL OR EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS < 5) THEN 1 END) AS READY,
       count(CASE WHEN EVENTS.WEDGE_REASON IS NULL AND EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.TOKEN IS NOT NULL AND EVENTS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN EVENTS.WEDGE_REASON IS NULL AND EVENTS_LEASE.TOKEN IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN EVENTS.WEDGE_REASON IS NULL AND EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.TOKEN IS NOT NULL AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       count(CASE WHEN EVENTS.WEDGE_REASON IS NOT NULL THEN 1 END) AS FAILED
FROM   EVENTS LEFT JOIN EVENTS_LEASE ON EVENTS_LEASE.ID = EVENTS.ID;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (WEDGE_REASON, ID)
SELECT /* eventsq.Backlog */
       count(CASE WHEN (EVENTS_LEASE.ID IS NULL OR EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS < 5) THEN 1 END) AS READY,
       count(CASE WHEN EVENTS_LEASE.TOKEN IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED
FROM   EVENTS LEFT JOIN EVENTS_LEASE ON EVENTS_LEASE.ID = EVENTS.ID
WHERE  EVENTS.WEDGE_REASON IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (WEDGE_REASON, ID)
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       *
FROM   (
           SELECT ID, CONTENT
           FROM   EVENTS
           WHERE  WEDGE_REASON IS NULL
           AND    NOT EXISTS (SELECT 1 FROM EVENTS_LEASE WHERE EVENTS_LEASE.ID = EVENTS.ID AND NOT (EVENTS_LEASE.FAILED_AT IS NULL AND EVENTS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND EVENTS_LEASE.ATTEMPTS < 5))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'CONTENT', 'clob' FROM DUAL UNION ALL
           SELECT 'WEDGE_REASON', 'raw' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVENTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of EVENTS_LEASE
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'TOKEN', 'char' FROM DUAL UNION ALL
           SELECT 'WORKER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CLAIMED_UNTIL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ATTEMPTS', 'number' FROM DUAL UNION ALL
           SELECT 'ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'FAILED_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVENTS_LEASE'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EVENTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EVENTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX EVENTS_READY ON EVENTS (WEDGE_REASON, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
