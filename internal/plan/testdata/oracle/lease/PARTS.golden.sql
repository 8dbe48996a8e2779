-- Package partsq uses the table PARTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
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
-- Claims are rows of the table PART_CLAIMS, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PARTS_READY.
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
-- note: no order is said: rows are taken in the order of the key, REGION, SEQ

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, REGION, SEQ)
-- arguments: 1: limit, 2: cursor
DECLARE /* partsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PARTS PARTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PARTS
        WHERE  STATE = 'N'
        AND    NOT EXISTS (SELECT 1 FROM PART_CLAIMS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND NOT (PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS < 3))
        ORDER  BY REGION, SEQ
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT REGION, SEQ
        FROM   PARTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of PART_CLAIMS for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: token Token, 4: worker Worker
DECLARE /* partsq.Claim */
    REGION_PICKED DBMS_SQL.VARCHAR2A := :1;
    SEQ_PICKED DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. REGION_PICKED.COUNT
        MERGE INTO PART_CLAIMS
        USING (SELECT REGION_PICKED(i) AS REGION, SEQ_PICKED(i) AS SEQ FROM DUAL) picked
        ON    (PART_CLAIMS.REGION = picked.REGION
              AND PART_CLAIMS.SEQ = picked.SEQ)
        WHEN MATCHED THEN
            UPDATE SET TOKEN = :3,
                       WORKER = :4,
                       CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(600, 'SECOND'),
                       ATTEMPTS = PART_CLAIMS.ATTEMPTS + 1
            WHERE  PART_CLAIMS.FAILED_AT IS NULL
            AND    PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP
            AND    PART_CLAIMS.ATTEMPTS < 3
        WHEN NOT MATCHED THEN
            INSERT (REGION, SEQ, TOKEN, WORKER, CLAIMED_UNTIL, ATTEMPTS)
            VALUES (picked.REGION, picked.SEQ, :3, :4,
                    SYSTIMESTAMP + NUMTODSINTERVAL(600, 'SECOND'), 1);
END;

-- sql/claim_read.sql
-- claim: reads the jobs whose claims have the token
-- locks: none
-- index: the token of PART_CLAIMS, and the key
-- arguments: 1: token Token
SELECT /* partsq.Claim */
       PARTS.REGION, PARTS.SEQ, PART_CLAIMS.TOKEN,
       TO_CHAR(PART_CLAIMS.CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       PART_CLAIMS.ATTEMPTS, PART_CLAIMS.ERROR
FROM   PART_CLAIMS, PARTS
WHERE  PART_CLAIMS.TOKEN = :1
AND    PART_CLAIMS.REGION = PARTS.REGION
AND    PART_CLAIMS.SEQ = PARTS.SEQ
AND    PARTS.STATE = 'N';

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Region Seq
SELECT /* partsq.Complete */
       REGION, SEQ
FROM   PARTS
WHERE  ((REGION = :v0 AND SEQ = :v0))
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token, 4: counts
DECLARE /* partsq.Complete */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM PART_CLAIMS
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq
DECLARE /* partsq.Complete */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 'C'
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    STATE = 'N';
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token, 4: delay, 5: error, 6: counts
DECLARE /* partsq.Fail */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE PART_CLAIMS
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:4, 'SECOND'),
               ERROR = :5
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :6 := changed;
END;

-- sql/fail_before.sql
-- fail: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Region Seq
SELECT /* partsq.Fail */
       REGION, SEQ
FROM   PARTS
WHERE  ((REGION = :v0 AND SEQ = :v0))
FOR    UPDATE;

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token, 4: counts
DECLARE /* partsq.Fail */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM PART_CLAIMS
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail_rows.sql
-- fail: the rows of the jobs whose claims fail.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq
DECLARE /* partsq.Fail */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE PARTS
        SET    STATE = 'E'
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    STATE = 'N';
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token, 4: delay, 5: counts
DECLARE /* partsq.Requeue */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE PART_CLAIMS
        SET    TOKEN = NULL,
               WORKER = NULL,
               CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(:4, 'SECOND'),
               ATTEMPTS = ATTEMPTS - 1
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Token, 4: counts
DECLARE /* partsq.Extend */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
    TOKEN_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE PART_CLAIMS
        SET    CLAIMED_UNTIL = SYSTIMESTAMP + NUMTODSINTERVAL(600, 'SECOND')
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    FAILED_AT IS NULL
        AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list Region Seq
SELECT /* partsq.Extend */
       REGION, SEQ, TO_CHAR(CLAIMED_UNTIL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   PART_CLAIMS
WHERE  ((REGION = :v0 AND SEQ = :v0));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: PART_CLAIMS_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
UPDATE /* partsq.Recover */ PART_CLAIMS
SET    TOKEN = NULL,
       WORKER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PART_CLAIMS
           WHERE  FAILED_AT IS NULL
           AND    TOKEN IS NOT NULL
           AND    ATTEMPTS < 3
           AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    FAILED_AT IS NULL
AND    TOKEN IS NOT NULL
AND    ATTEMPTS < 3
AND    (EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REGION, SEQ); it reads others as well
-- arguments: 1: limit
UPDATE /* partsq.Recover */ PARTS
SET    STATE = 'E'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 'N'
           AND    (EXISTS (SELECT 1 FROM PART_CLAIMS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS >= 3))
           AND    ROWNUM <= :1)
AND    STATE = 'N'
AND    (EXISTS (SELECT 1 FROM PART_CLAIMS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS >= 3));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: PART_CLAIMS_EXPIRED (FAILED_AT, CLAIMED_UNTIL)
-- arguments: 1: limit
DELETE /* partsq.Recover */ FROM PART_CLAIMS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PART_CLAIMS
           WHERE  (NOT EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'))
           AND    CLAIMED_UNTIL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    (NOT EXISTS (SELECT 1 FROM PARTS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND PARTS.STATE = 'N'))
AND    CLAIMED_UNTIL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REGION, SEQ)
-- arguments: 1: limit
UPDATE /* partsq.Redrive */ PARTS
SET    STATE = 'N'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REGION, SEQ)
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM PARTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 'C'
           AND    ROWNUM <= :1)
AND    STATE = 'C';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REGION, SEQ)
-- arguments: 1: limit
DELETE /* partsq.Purge */ FROM PARTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PARTS
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq
INSERT /* partsq.Enqueue */ INTO PARTS
       (REGION, SEQ, STATE)
VALUES (:1, :2, 'N');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* partsq.Stats */
       count(CASE WHEN PARTS.STATE = 'N' AND (PART_CLAIMS.REGION IS NULL OR PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS < 3) THEN 1 END) AS READY,
       count(CASE WHEN PARTS.STATE = 'N' AND PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.TOKEN IS NOT NULL AND PART_CLAIMS.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN PARTS.STATE = 'N' AND PART_CLAIMS.TOKEN IS NULL AND PART_CLAIMS.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN PARTS.STATE = 'N' AND PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.TOKEN IS NOT NULL AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       count(CASE WHEN PARTS.STATE = 'C' THEN 1 END) AS DONE,
       count(CASE WHEN PARTS.STATE = 'E' THEN 1 END) AS FAILED
FROM   PARTS LEFT JOIN PART_CLAIMS ON PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, REGION, SEQ)
SELECT /* partsq.Backlog */
       count(CASE WHEN (PART_CLAIMS.REGION IS NULL OR PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS < 3) THEN 1 END) AS READY,
       count(CASE WHEN PART_CLAIMS.TOKEN IS NULL AND PART_CLAIMS.CLAIMED_UNTIL > SYSTIMESTAMP THEN 1 END) AS DELAYED
FROM   PARTS LEFT JOIN PART_CLAIMS ON PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ
WHERE  PARTS.STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, REGION, SEQ)
-- arguments: 1: limit
SELECT /* partsq.Peek */
       *
FROM   (
           SELECT REGION, SEQ
           FROM   PARTS
           WHERE  STATE = 'N'
           AND    NOT EXISTS (SELECT 1 FROM PART_CLAIMS WHERE PART_CLAIMS.REGION = PARTS.REGION AND PART_CLAIMS.SEQ = PARTS.SEQ AND NOT (PART_CLAIMS.FAILED_AT IS NULL AND PART_CLAIMS.CLAIMED_UNTIL <= SYSTIMESTAMP AND PART_CLAIMS.ATTEMPTS < 3))
           ORDER  BY REGION, SEQ
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* partsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REGION' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'SEQ', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PARTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of PART_CLAIMS
-- locks: none
SELECT /* partsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REGION' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'SEQ', 'number' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'char' FROM DUAL UNION ALL
           SELECT 'WORKER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CLAIMED_UNTIL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'ATTEMPTS', 'number' FROM DUAL UNION ALL
           SELECT 'ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'FAILED_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PART_CLAIMS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* partsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PARTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PARTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PARTS_READY ON PARTS (STATE, REGION, SEQ) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
