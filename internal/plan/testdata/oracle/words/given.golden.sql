-- Package givenq uses the table GIVEN as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Partial---------> ready
-- 	running  --NotWanted-------> failed
-- 	running  --Skipped---------> done
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue and Partial take the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates GIVEN_READY.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: column "CODE" stays as it is when a job fails because its claim ran out (giveup)
-- note: rows are taken as they came, by column "ID"
-- note: the fence is the count in column "TRIES" alone, which repeats after Requeue, the outcome partial and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: given host *string, 3: cursor
DECLARE /* givenq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(GIVEN GIVEN_READY) */ ROWIDTOCHAR(ROWID)
        FROM   GIVEN
        WHERE  STATE = 'N'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE GIVEN
        SET    STATE = 'A',
               TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               TRIES = TRIES + 1,
               HOST = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES
        FROM   GIVEN
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Answer, 4: batch Response, 5: counts
DECLARE /* givenq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    ANSWER_HELD DBMS_SQL.VARCHAR2A := :3;
    RESPONSE_HELD DBMS_SQL.NUMBER_TABLE := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'D',
               TILL = NULL,
               ANSWER = ANSWER_HELD(i),
               RESPONSE = RESPONSE_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: given code *int64, 4: counts
DECLARE /* givenq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'N',
               TILL = NULL,
               CODE = :3
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: given code *int64, 4: counts
DECLARE /* givenq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'E',
               TILL = NULL,
               CODE = :3
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: given code *int64, 4: counts
DECLARE /* givenq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'N',
               TILL = NULL,
               TRIES = TRIES - 1,
               CODE = :3
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* givenq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
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
SELECT /* givenq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   GIVEN
WHERE  (ID = :v0);

-- sql/outcome_partial.sql
-- outcome_partial: running to ready
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* givenq.Partial */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'N',
               TILL = NULL,
               TRIES = TRIES - 1,
               ANSWER = 'in part',
               CODE = 7
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/outcome_not_wanted.sql
-- outcome_not_wanted: running to failed
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: given why *int64, 4: counts
DECLARE /* givenq.NotWanted */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'E',
               TILL = NULL,
               CODE = :3
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/outcome_skipped.sql
-- outcome_skipped: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* givenq.Skipped */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE GIVEN
        SET    STATE = 'D',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: given sweeper *string, 2: limit
UPDATE /* givenq.Recover */ GIVEN
SET    STATE = 'N',
       TILL = NULL,
       WHO = :1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   GIVEN
           WHERE  STATE = 'A'
           AND    TRIES < 3
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :2)
AND    STATE = 'A'
AND    TRIES < 3
AND    TILL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: given sweeper *string, 2: limit
UPDATE /* givenq.Recover */ GIVEN
SET    STATE = 'E',
       TILL = NULL,
       WHO = :1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   GIVEN
           WHERE  STATE = 'A'
           AND    TRIES >= 3
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :2)
AND    STATE = 'A'
AND    TRIES >= 3
AND    TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* givenq.Redrive */ GIVEN
SET    STATE = 'N',
       TILL = NULL,
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   GIVEN
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* givenq.Purge */ FROM GIVEN
WHERE  ROWID IN (
           SELECT ROWID
           FROM   GIVEN
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* givenq.Purge */ FROM GIVEN
WHERE  ROWID IN (
           SELECT ROWID
           FROM   GIVEN
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* givenq.Enqueue */ INTO GIVEN
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* givenq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'A' AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   GIVEN;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* givenq.Backlog */
       count(*) AS READY
FROM   GIVEN
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* givenq.Peek */
       *
FROM   (
           SELECT ID, TRIES
           FROM   GIVEN
           WHERE  STATE = 'N'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* givenq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* givenq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'ANSWER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RESPONSE', 'number' FROM DUAL UNION ALL
           SELECT 'CODE', 'number' FROM DUAL UNION ALL
           SELECT 'HOST', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WHO', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'GIVEN'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* givenq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'GIVEN_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'GIVEN'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX GIVEN_READY ON GIVEN (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
