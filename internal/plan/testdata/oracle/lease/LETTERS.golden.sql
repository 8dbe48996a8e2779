-- Package lettersq uses the table LETTERS as a queue of jobs on Oracle 19 and later.
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
-- Claims are rows of the table LETTERS_LEASE, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates LETTERS_READY.
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
-- note: rows are taken as they came, by column "ID"

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (KIND, ID)
-- arguments: 1: param kind string, 2: limit, 3: cursor
DECLARE /* lettersq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(LETTERS LETTERS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   LETTERS
        WHERE  KIND = :1
        AND    NOT EXISTS (SELECT 1 FROM LETTERS_LEASE WHERE LETTERS_LEASE.ID = LETTERS.ID AND NOT (LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   LETTERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of LETTERS_LEASE for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch ID, 2: token Token, 3: worker Worker
DECLARE /* lettersq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        MERGE INTO LETTERS_LEASE
        USING (SELECT ID_PICKED(i) AS ID FROM DUAL) picked
        ON    (LETTERS_LEASE.ID = picked.ID)
        WHEN MATCHED THEN
            UPDATE SET TOKEN = :2,
                       WORKER = :3,
                       CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
                       ATTEMPTS = LETTERS_LEASE.ATTEMPTS + 1
            WHERE  LETTERS_LEASE.FAILED_AT IS NULL
            AND    LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP
            AND    LETTERS_LEASE.ATTEMPTS < 5
        WHEN NOT MATCHED THEN
            INSERT (ID, TOKEN, WORKER, CLAIMED_UNTIL, ATTEMPTS)
            VALUES (picked.ID, :2, :3, SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'), 1);
END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of LETTERS_LEASE, and the key
-- arguments: 1: token Token
SELECT /* lettersq.Claim */
       LETTERS.ID, LETTERS.KIND, LETTERS.PRIORITY, LETTERS.BODY, LETTERS_LEASE.TOKEN,
       TO_CHAR(LETTERS_LEASE.CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       LETTERS_LEASE.ATTEMPTS, LETTERS_LEASE.ERROR
FROM   LETTERS_LEASE, LETTERS
WHERE  LETTERS_LEASE.TOKEN = :1
AND    LETTERS_LEASE.ID = LETTERS.ID;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* lettersq.Complete */
       ID
FROM   LETTERS
WHERE  (ID = :v0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* lettersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM LETTERS_LEASE
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));
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
DECLARE /* lettersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM LETTERS
        WHERE  ID = ID_HELD(i);
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: error, 5: counts
DECLARE /* lettersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ERROR = :4
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: error, 4: counts
DECLARE /* lettersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               ERROR = :3,
               FAILED_AT = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: counts
DECLARE /* lettersq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ATTEMPTS = ATTEMPTS - 1
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));
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
DECLARE /* lettersq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS_LEASE
        SET    CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));
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
SELECT /* lettersq.Extend */
       ID, TO_CHAR(CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   LETTERS_LEASE
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: LETTERS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ LETTERS_LEASE
SET    TOKEN = NULL,
       WORKER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS_LEASE
           WHERE  FAILED_AT IS NULL
           AND    TOKEN IS NOT NULL
           AND    ATTEMPTS < 5
           AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NULL
AND    TOKEN IS NOT NULL
AND    ATTEMPTS < 5
AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: LETTERS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ LETTERS_LEASE
SET    TOKEN = NULL,
       WORKER = NULL,
       ERROR = 'the claim ran out',
       FAILED_AT = SYSTIMESTAMP
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS_LEASE
           WHERE  FAILED_AT IS NULL
           AND    ATTEMPTS >= 5
           AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NULL
AND    ATTEMPTS >= 5
AND    (EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: LETTERS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
DELETE /* lettersq.Recover */ FROM LETTERS_LEASE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS_LEASE
           WHERE  (NOT EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    (NOT EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: LETTERS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
DELETE /* lettersq.Redrive */ FROM LETTERS_LEASE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS_LEASE
           WHERE  FAILED_AT IS NOT NULL
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NOT NULL;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- arguments: 1: older, 2: limit, 3: older
DELETE /* lettersq.Purge */ FROM LETTERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  EXISTS (SELECT 1 FROM LETTERS_LEASE WHERE LETTERS_LEASE.ID = LETTERS.ID AND LETTERS_LEASE.FAILED_AT IS NOT NULL AND LETTERS_LEASE.FAILED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND'))
           AND    ROWNUM <= :2)
AND    EXISTS (SELECT 1 FROM LETTERS_LEASE WHERE LETTERS_LEASE.ID = LETTERS.ID AND LETTERS_LEASE.FAILED_AT IS NOT NULL AND LETTERS_LEASE.FAILED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND'));

-- sql/purge_left.sql
-- purge_left: the claims of the rows that purge_failed.sql deleted, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: LETTERS_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL); it reads others as well
-- arguments: 1: older, 2: limit, 3: older
DELETE /* lettersq.Purge */ FROM LETTERS_LEASE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS_LEASE
           WHERE  FAILED_AT IS NOT NULL
           AND    FAILED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    (NOT EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID))
           AND    ROWNUM <= :2)
AND    FAILED_AT IS NOT NULL
AND    FAILED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND')
AND    (NOT EXISTS (SELECT 1 FROM LETTERS WHERE LETTERS_LEASE.ID = LETTERS.ID));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new Body, 4: new_key
INSERT /* lettersq.Enqueue */ INTO LETTERS
       (KIND, PRIORITY, BODY)
VALUES (:1, :2, :3)
/* the new key */ RETURNING ID INTO :4;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN (LETTERS_LEASE.ID IS NULL OR LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5) THEN 1 END) AS READY,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.TOKEN IS NOT NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN LETTERS_LEASE.TOKEN IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.TOKEN IS NOT NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NOT NULL THEN 1 END) AS FAILED
FROM   LETTERS LEFT JOIN LETTERS_LEASE ON LETTERS_LEASE.ID = LETTERS.ID;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same KIND is for
-- locks: none
-- index: (KIND, ID)
-- arguments: 1: param kind string
SELECT /* lettersq.StatsOf */
       count(CASE WHEN (LETTERS_LEASE.ID IS NULL OR LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5) THEN 1 END) AS READY,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.TOKEN IS NOT NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN LETTERS_LEASE.TOKEN IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.TOKEN IS NOT NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       count(CASE WHEN LETTERS_LEASE.FAILED_AT IS NOT NULL THEN 1 END) AS FAILED
FROM   LETTERS LEFT JOIN LETTERS_LEASE ON LETTERS_LEASE.ID = LETTERS.ID
WHERE  LETTERS.KIND = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by KIND
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Backlog */
       LETTERS.KIND,
       count(CASE WHEN (LETTERS_LEASE.ID IS NULL OR LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5) THEN 1 END) AS READY,
       count(CASE WHEN LETTERS_LEASE.TOKEN IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED
FROM   LETTERS LEFT JOIN LETTERS_LEASE ON LETTERS_LEASE.ID = LETTERS.ID
GROUP  BY LETTERS.KIND
HAVING count(CASE WHEN (LETTERS_LEASE.ID IS NULL OR LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5) THEN 1 END) > 0
OR     count(CASE WHEN LETTERS_LEASE.TOKEN IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) > 0
ORDER  BY LETTERS.KIND;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (KIND, ID)
-- arguments: 1: param kind string, 2: limit
SELECT /* lettersq.Peek */
       *
FROM   (
           SELECT ID, KIND, PRIORITY, BODY
           FROM   LETTERS
           WHERE  KIND = :1
           AND    NOT EXISTS (SELECT 1 FROM LETTERS_LEASE WHERE LETTERS_LEASE.ID = LETTERS.ID AND NOT (LETTERS_LEASE.FAILED_AT IS NULL AND LETTERS_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP AND LETTERS_LEASE.ATTEMPTS < 5))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'LETTERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of LETTERS_LEASE
-- locks: none
SELECT /* lettersq.Verify */
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
       AND have.table_name = 'LETTERS_LEASE'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'LETTERS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'LETTERS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX LETTERS_READY ON LETTERS (KIND, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
