-- Package guardedq uses the table EMAIL_OUTBOX as a queue of jobs on Oracle 23 and later.
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
-- Jobs are claimed by the strategy guarded: strategy=guarded is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EMAIL_OUTBOX_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=guarded is asked for
--   lease_table  strategy=guarded is asked for
--   hold         strategy=guarded is asked for
--   partition    strategy=guarded is asked for
--   returning    strategy=guarded is asked for
--   block        strategy=guarded is asked for
--   token        strategy=guarded is asked for
--   lock_update  strategy=guarded is asked for
--   advisory     strategy=guarded is asked for
-- * guarded      strategy=guarded is asked for
--   pop          strategy=guarded is asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then takes
-- locks: none
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
-- arguments: 1: param kind string, 2: limit
SELECT /* guardedq.Claim */
       *
FROM   (
           SELECT MSG_ID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'N'
           AND    (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL)
           AND    KIND = :1
           ORDER  BY PRIORITY DESC, CREATED_AT DESC, MSG_ID
       )
WHERE  ROWNUM <= :2;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- arguments: 1: list MsgID, 2: param kind string
SELECT /* guardedq.Claim */
       MSG_ID
FROM   EMAIL_OUTBOX
WHERE  (MSG_ID = :v0)
AND    STATE = 'N'
AND    (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL)
AND    KIND = :2
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: token Token
DECLARE /* guardedq.Claim */
    MSG_ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. MSG_ID_PICKED.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'A',
               LEASE_TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND'),
               TOKEN = :2,
               TRIES = TRIES + 1
        WHERE  MSG_ID = MSG_ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- arguments: 1: list MsgID
SELECT /* guardedq.Claim */
       MSG_ID, KIND, PRIORITY, TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       TO_CHAR(NOT_BEFORE, 'YYYY-MM-DD HH24:MI:SS'),
       TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9'), TOKEN, TRIES, LAST_ERROR, BODY
FROM   EMAIL_OUTBOX
WHERE  (MSG_ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Token, 3: counts
DECLARE /* guardedq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'C',
               LEASE_TILL = NULL
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Token, 3: delay, 4: error, 5: counts
DECLARE /* guardedq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'N',
               NOT_BEFORE = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + :3 / 86400,
               LEASE_TILL = NULL,
               TOKEN = NULL,
               LAST_ERROR = :4
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Token, 3: error, 4: counts
DECLARE /* guardedq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'E',
               LEASE_TILL = NULL,
               LAST_ERROR = :3
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Token, 3: delay, 4: counts
DECLARE /* guardedq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'N',
               NOT_BEFORE = CASE WHEN :3 > 0.0 THEN CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + :3 / 86400 ELSE NOT_BEFORE END,
               LEASE_TILL = NULL,
               TOKEN = NULL,
               TRIES = TRIES - 1
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID, 2: batch Token, 3: counts
DECLARE /* guardedq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    MSG_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MSG_ID_HELD.COUNT
        UPDATE EMAIL_OUTBOX
        SET    LEASE_TILL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  MSG_ID = MSG_ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. MSG_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list MsgID
SELECT /* guardedq.Extend */
       MSG_ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   EMAIL_OUTBOX
WHERE  (MSG_ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* guardedq.Recover */ EMAIL_OUTBOX
SET    STATE = 'N',
       LEASE_TILL = NULL,
       TOKEN = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'A'
           AND    TRIES < 5
           AND    LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES < 5
AND    LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* guardedq.Recover */ EMAIL_OUTBOX
SET    STATE = 'E',
       LEASE_TILL = NULL,
       LAST_ERROR = 'the claim ran out'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'A'
           AND    TRIES >= 5
           AND    LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES >= 5
AND    LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
-- arguments: 1: limit
UPDATE /* guardedq.Redrive */ EMAIL_OUTBOX
SET    STATE = 'N',
       LEASE_TILL = NULL,
       TOKEN = NULL,
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE); it reads those that are not old enough as well, which one on (STATE, CREATED_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* guardedq.Purge */ FROM EMAIL_OUTBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'C'
           AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'C'
AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE); it reads those that are not old enough as well, which one on (STATE, CREATED_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* guardedq.Purge */ FROM EMAIL_OUTBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'E'
           AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'E'
AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body, 5: new_key
INSERT /* guardedq.Enqueue */ INTO EMAIL_OUTBOX
       (KIND, PRIORITY, CREATED_AT, NOT_BEFORE, BODY)
VALUES (:1, coalesce(:2, 0), SYSTIMESTAMP, TO_DATE(:3, 'YYYY-MM-DD HH24:MI:SS'), :4)
/* the new key */ RETURNING MSG_ID INTO :5;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* guardedq.Stats */
       count(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'C' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same KIND is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* guardedq.StatsOf */
       count(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'C' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX
WHERE  KIND = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by KIND
-- locks: none
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
SELECT /* guardedq.Backlog */
       KIND,
       count(CASE WHEN (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX
WHERE  STATE = 'N'
GROUP  BY KIND
ORDER  BY KIND;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
-- arguments: 1: param kind string, 2: limit
SELECT /* guardedq.Peek */
       *
FROM   (
           SELECT MSG_ID, KIND, PRIORITY,
                  TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(NOT_BEFORE, 'YYYY-MM-DD HH24:MI:SS'), TRIES, LAST_ERROR, BODY
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'N'
           AND    (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL)
           AND    KIND = :1
           ORDER  BY PRIORITY DESC, CREATED_AT DESC, MSG_ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* guardedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 23'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 2300;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* guardedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'MSG_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'CREATED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'NOT_BEFORE', 'date' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'raw' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'LAST_ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EMAIL_OUTBOX'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* guardedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EMAIL_OUTBOX_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EMAIL_OUTBOX'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
-- emailq advises the same
CREATE INDEX EMAIL_OUTBOX_READY ON EMAIL_OUTBOX (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
