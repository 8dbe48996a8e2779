-- Package notesq uses the table NOTES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Besides the queue's own rows it writes JOURNAL (Enqueue), each in the transaction of the operation.
--
-- Claims are rows of the table NOTES_LEASE, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
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
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* notesq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   NOTES
        WHERE  NOT EXISTS (SELECT 1 FROM NOTES_LEASE WHERE NOTES_LEASE.ID = NOTES.ID AND NOT (NOTES_LEASE.FAILED_AT IS NULL AND NOTES_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   NOTES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of NOTES_LEASE for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch ID, 2: token Token, 3: worker Worker
DECLARE /* notesq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        MERGE INTO NOTES_LEASE
        USING (SELECT ID_PICKED(i) AS ID FROM DUAL) picked
        ON    (NOTES_LEASE.ID = picked.ID)
        WHEN MATCHED THEN
            UPDATE SET TOKEN = :2,
                       WORKER = :3,
                       CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
                       ATTEMPTS = NOTES_LEASE.ATTEMPTS + 1
            WHERE  NOTES_LEASE.FAILED_AT IS NULL
            AND    NOTES_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP
        WHEN NOT MATCHED THEN
            INSERT (ID, TOKEN, WORKER, CLAIMED_UNTIL, ATTEMPTS)
            VALUES (picked.ID, :2, :3, SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'), 1);
END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of NOTES_LEASE, and the key
-- arguments: 1: token Token
SELECT /* notesq.Claim */
       NOTES.ID, NOTES.ADDRESS, NOTES_LEASE.TOKEN,
       TO_CHAR(NOTES_LEASE.CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       NOTES_LEASE.ATTEMPTS, NOTES_LEASE.ERROR
FROM   NOTES_LEASE, NOTES
WHERE  NOTES_LEASE.TOKEN = :1
AND    NOTES_LEASE.ID = NOTES.ID;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* notesq.Complete */
       ID
FROM   NOTES
WHERE  (ID = :v0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: counts
DECLARE /* notesq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM NOTES_LEASE
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID));
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
DECLARE /* notesq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM NOTES
        WHERE  ID = ID_HELD(i);
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: error, 5: counts
DECLARE /* notesq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE NOTES_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ERROR = :4
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID));
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: counts
DECLARE /* notesq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE NOTES_LEASE
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               ATTEMPTS = ATTEMPTS - 1
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID));
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
DECLARE /* notesq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE NOTES_LEASE
        SET    CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID));
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
SELECT /* notesq.Extend */
       ID, TO_CHAR(CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   NOTES_LEASE
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: NOTES_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
UPDATE /* notesq.Recover */ NOTES_LEASE
SET    TOKEN = NULL,
       WORKER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   NOTES_LEASE
           WHERE  FAILED_AT IS NULL
           AND    TOKEN IS NOT NULL
           AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NULL
AND    TOKEN IS NOT NULL
AND    (EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: NOTES_LEASE_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
DELETE /* notesq.Recover */ FROM NOTES_LEASE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   NOTES_LEASE
           WHERE  (NOT EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    (NOT EXISTS (SELECT 1 FROM NOTES WHERE NOTES_LEASE.ID = NOTES.ID))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new_key
INSERT /* notesq.Enqueue */ INTO NOTES
       (ADDRESS)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into JOURNAL for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* notesq.Enqueue */ INTO JOURNAL
       (WHAT, ID, ADDRESS)
SELECT 'note', held.ID, held.ADDRESS
FROM   NOTES held
WHERE  (held.ID = :v0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(CASE WHEN (NOTES_LEASE.ID IS NULL OR NOTES_LEASE.FAILED_AT IS NULL AND NOTES_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP) THEN 1 END) AS READY,
       count(CASE WHEN NOTES_LEASE.FAILED_AT IS NULL AND NOTES_LEASE.TOKEN IS NOT NULL AND NOTES_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN NOTES_LEASE.TOKEN IS NULL AND NOTES_LEASE.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN NOTES_LEASE.FAILED_AT IS NULL AND NOTES_LEASE.TOKEN IS NOT NULL AND NOTES_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   NOTES LEFT JOIN NOTES_LEASE ON NOTES_LEASE.ID = NOTES.ID;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* notesq.Peek */
       *
FROM   (
           SELECT ID, ADDRESS
           FROM   NOTES
           WHERE  NOT EXISTS (SELECT 1 FROM NOTES_LEASE WHERE NOTES_LEASE.ID = NOTES.ID AND NOT (NOTES_LEASE.FAILED_AT IS NULL AND NOTES_LEASE.CLAIMED_UNTIL <= SYSTIMESTAMP))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'NOTES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of JOURNAL
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'WHAT' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'ID', 'number' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOURNAL'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of NOTES_LEASE
-- locks: none
SELECT /* notesq.Verify */
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
       AND have.table_name = 'NOTES_LEASE'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
