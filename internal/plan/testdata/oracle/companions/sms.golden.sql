-- Package smsq uses the table OUTBOX as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (SENTITEMS)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> (DEAD)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> (DEAD), when its claim expired and no tries are left
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- Besides the queue's own rows it writes FIRED (Claim, Requeue, Extend, Recover); SENTITEMS (Complete, Fail, Recover); OUTBOX_MULTIPART (Complete, Fail, Recover); TOTALS (Complete); ELSEWHERE.TRIES (Fail); DEAD (Fail, Recover); OUTBOX (Fail, Recover), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates OUTBOX_SMS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 19 cannot return the rows of an UPDATE
-- * block        a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them
--   token        not needed: block comes first
--   lock_update  not needed: block comes first
--   advisory     Oracle has no locks on numbers
--   guarded      not needed: block comes first
--   pop          a taken row is gone, so it must be asked for
-- note: the DDL has no table "ELSEWHERE.TRIES", so its columns are not checked

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, PRIORITY DESC, INSERTED_AT, ID, DUE_AT)
-- arguments: 1: limit, 2: token Token, 3: worker Sender, 4: cursor
DECLARE /* smsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(OUTBOX OUTBOX_SMS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   OUTBOX
        WHERE  STATE = 'new'
        AND    DUE_AT <= SYSTIMESTAMP
        ORDER  BY PRIORITY DESC, INSERTED_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE OUTBOX
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               STATE = 'busy',
               TOKEN = :2,
               SENDER = :3,
               RETRIES = RETRIES + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT ID, TO_CHAR(INSERTED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TOKEN, RETRIES,
               PRIORITY, NUMBER_TO, LAST_ERROR, BODY
        FROM   OUTBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_insert_fired.sql
-- claim: inserts rows into FIRED for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* smsq.Claim */ INTO FIRED
       (TOKEN, OUTBOX_ID, SENDER, TAKEN_AT)
SELECT held.TOKEN, held.ID, held.SENDER, SYSTIMESTAMP
FROM   OUTBOX held
WHERE  (held.ID = :v0);

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Token
SELECT /* smsq.Complete */
       ID
FROM   OUTBOX
WHERE  ((ID = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete_move.sql
-- complete: the rows that complete_lock.sql locked go to SENTITEMS before complete.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID Answer, 2: list ID Token
INSERT /* smsq.Complete */ INTO SENTITEMS
       (ID, SENT_AT, NUMBER_TO, STATUS, ANSWER)
SELECT held.ID, SYSTIMESTAMP, held.NUMBER_TO, 'SendingOK',
       CASE WHEN held.ID = :v0 THEN :v0 END
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0));

-- sql/complete_delete_outbox_multipart.sql
-- complete: deletes rows from OUTBOX_MULTIPART for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of OUTBOX_MULTIPART one that begins with OUTBOX_ID
-- arguments: 1: list ID Token
DELETE /* smsq.Complete */ FROM OUTBOX_MULTIPART
WHERE  (OUTBOX_ID) IN (
           SELECT held.ID
           FROM   OUTBOX held
           WHERE  ((held.ID = :v0 AND held.TOKEN = :v0)));

-- sql/complete_update_totals.sql
-- complete: updates rows of TOTALS for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with NUMBER_TO, STATE
-- arguments: 1: list ID Token, 2: list ID Token
UPDATE /* smsq.Complete */ TOTALS
SET    (SENT, SENT_AT, STATE) = (
           SELECT (totals.sent + shared.JOBS), SYSTIMESTAMP, 'busy'
           FROM   (
                      SELECT held.NUMBER_TO AS OF_NUMBER_TO,
                             count(*) AS JOBS
                      FROM   OUTBOX held
                      WHERE  ((held.ID = :v0 AND held.TOKEN = :v0))
                      GROUP  BY held.NUMBER_TO
                  ) shared
           WHERE  TOTALS.NUMBER_TO = shared.OF_NUMBER_TO
       )
WHERE  (NUMBER_TO) IN (
           SELECT held.NUMBER_TO
           FROM   OUTBOX held
           WHERE  ((held.ID = :v0 AND held.TOKEN = :v0)))
AND    TOTALS.STATE = 'open';

-- sql/complete.sql
-- complete: running to done
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token
DECLARE /* smsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM OUTBOX
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Token
SELECT /* smsq.Fail */
       ID
FROM   OUTBOX
WHERE  ((ID = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/retry_insert_tries.sql
-- retry: inserts rows into ELSEWHERE.TRIES for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO ELSEWHERE.TRIES
       (OUTBOX_ID, CAUSE, "AT", TRIED, TRIES)
SELECT held.ID, :1, (SYSTIMESTAMP), 1, held.RETRIES
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay, 4: error
DECLARE /* smsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    DUE_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               LEASE_TILL = NULL,
               STATE = 'new',
               TOKEN = NULL,
               SENDER = NULL,
               LAST_ERROR = :4
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Token
SELECT /* smsq.Fail */
       ID
FROM   OUTBOX
WHERE  ((ID = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to DEAD before fail.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO DEAD
       (ID, STATE, RETRIES, NUMBER_TO, LAST_ERROR, BODY)
SELECT held.ID, 'error', held.RETRIES, held.NUMBER_TO, :1, held.BODY
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0));

-- sql/fail_delete_outbox_multipart.sql
-- fail: deletes rows from OUTBOX_MULTIPART for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of OUTBOX_MULTIPART one that begins with OUTBOX_ID
-- arguments: 1: list ID Token
DELETE /* smsq.Fail */ FROM OUTBOX_MULTIPART
WHERE  (OUTBOX_ID) IN (
           SELECT held.ID
           FROM   OUTBOX held
           WHERE  ((held.ID = :v0 AND held.TOKEN = :v0)));

-- sql/fail_insert_outbox.sql
-- fail: inserts rows into OUTBOX for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID Token
INSERT /* smsq.Fail */ INTO OUTBOX
       (NUMBER_TO, BODY, PRIORITY)
SELECT held.NUMBER_TO, held.BODY, 0
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0))
AND    (held.priority > 5);

-- sql/fail_insert_sentitems.sql
-- fail: inserts rows into SENTITEMS for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: error, 2: list ID Token
INSERT /* smsq.Fail */ INTO SENTITEMS
       (ID, SENT_AT, NUMBER_TO, STATUS, CAUSE)
SELECT held.ID, SYSTIMESTAMP, held.NUMBER_TO, 'SendingError', :1
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0));

-- sql/fail.sql
-- fail: running to failed
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token
DECLARE /* smsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM OUTBOX
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Token
SELECT /* smsq.Requeue */
       ID
FROM   OUTBOX
WHERE  ((ID = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/requeue_insert_fired.sql
-- requeue: inserts rows into FIRED for the rows that requeue_lock.sql locked, before requeue.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID Token
INSERT /* smsq.Requeue */ INTO FIRED
       (TOKEN, OUTBOX_ID, TAKEN_AT)
SELECT held.TOKEN, held.ID, SYSTIMESTAMP
FROM   OUTBOX held
WHERE  ((held.ID = :v0 AND held.TOKEN = :v0));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token, 3: delay
DECLARE /* smsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    DUE_AT = CASE WHEN :3 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND') ELSE DUE_AT END,
               LEASE_TILL = NULL,
               STATE = 'new',
               TOKEN = NULL,
               SENDER = NULL,
               RETRIES = RETRIES - 1
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: TOKEN as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Token
SELECT /* smsq.Extend */
       ID
FROM   OUTBOX
WHERE  ((ID = :v0 AND TOKEN = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/extend_update_fired.sql
-- extend: updates rows of FIRED for the rows that extend_lock.sql locked, before extend.sql
-- locks: the rows it writes, until commit
-- index: the key; of FIRED one that begins with TOKEN, OUTBOX_ID
-- arguments: 1: list ID Token, 2: list ID Token
UPDATE /* smsq.Extend */ FIRED
SET    (TAKEN_AT) = (
           SELECT SYSTIMESTAMP
           FROM   OUTBOX held
           WHERE  ((held.ID = :v0 AND held.TOKEN = :v0))
           AND    FIRED.TOKEN = held.TOKEN
           AND    FIRED.OUTBOX_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (TOKEN, OUTBOX_ID) IN (
           SELECT held.TOKEN, held.ID
           FROM   OUTBOX held
           WHERE  ((held.ID = :v0 AND held.TOKEN = :v0)));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TOKEN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Token
DECLARE /* smsq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TOKEN_HELD raws := :2;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TOKEN = TOKEN_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* smsq.Extend */
       ID, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   OUTBOX
WHERE  (ID = :v0);

-- sql/recover_lock.sql
-- recover: locks rows, which recover.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, PRIORITY DESC, INSERTED_AT, ID, DUE_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit, 2: cursor
DECLARE /* smsq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   OUTBOX
        WHERE  STATE = 'busy'
        AND    RETRIES < 3
        AND    LEASE_TILL <= SYSTIMESTAMP
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   OUTBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_delete_fired.sql
-- recover: deletes rows from FIRED for the rows that recover_lock.sql locked, before recover.sql
-- locks: the rows it writes, until commit
-- index: the key; of FIRED one that begins with TOKEN, OUTBOX_ID
-- arguments: 1: list ID
DELETE /* smsq.Recover */ FROM FIRED
WHERE  (TOKEN, OUTBOX_ID) IN (
           SELECT held.TOKEN, held.ID
           FROM   OUTBOX held
           WHERE  (held.ID = :v0));

-- sql/recover.sql
-- recover: running with an expired claim to ready, of the rows that recover_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* smsq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE OUTBOX
        SET    LEASE_TILL = NULL,
               STATE = 'new',
               TOKEN = NULL,
               SENDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy'
        AND    RETRIES < 3;
END;

-- sql/recover_failed_lock.sql
-- recover_failed: locks rows, which recover_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, PRIORITY DESC, INSERTED_AT, ID, DUE_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit, 2: cursor
DECLARE /* smsq.Recover */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   OUTBOX
        WHERE  STATE = 'busy'
        AND    RETRIES >= 3
        AND    LEASE_TILL <= SYSTIMESTAMP
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID
        FROM   OUTBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/recover_failed_move.sql
-- recover_failed: the rows that recover_failed_lock.sql locked go to DEAD before recover_failed.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO DEAD
       (ID, STATE, RETRIES, NUMBER_TO, LAST_ERROR, BODY)
SELECT held.ID, 'error', held.RETRIES, held.NUMBER_TO, 'the claim ran out', held.BODY
FROM   OUTBOX held
WHERE  (held.ID = :v0);

-- sql/recover_failed_delete_outbox_multipart.sql
-- recover_failed: deletes rows from OUTBOX_MULTIPART for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of OUTBOX_MULTIPART one that begins with OUTBOX_ID
-- arguments: 1: list ID
DELETE /* smsq.Recover */ FROM OUTBOX_MULTIPART
WHERE  (OUTBOX_ID) IN (
           SELECT held.ID
           FROM   OUTBOX held
           WHERE  (held.ID = :v0));

-- sql/recover_failed_insert_outbox.sql
-- recover_failed: inserts rows into OUTBOX for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO OUTBOX
       (NUMBER_TO, BODY, PRIORITY)
SELECT held.NUMBER_TO, held.BODY, 0
FROM   OUTBOX held
WHERE  (held.ID = :v0)
AND    (held.priority > 5);

-- sql/recover_failed_insert_sentitems.sql
-- recover_failed: inserts rows into SENTITEMS for the rows that recover_failed_lock.sql locked, before recover_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* smsq.Recover */ INTO SENTITEMS
       (ID, SENT_AT, NUMBER_TO, STATUS, CAUSE)
SELECT held.ID, SYSTIMESTAMP, held.NUMBER_TO, 'SendingError', 'the claim ran out'
FROM   OUTBOX held
WHERE  (held.ID = :v0);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed, of the rows that recover_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* smsq.Recover */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM OUTBOX
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy'
        AND    RETRIES >= 3;
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new Priority, 3: new NumberTo, 4: new Body, 5: new_key
INSERT /* smsq.Enqueue */ INTO OUTBOX
       (INSERTED_AT, DUE_AT, PRIORITY, NUMBER_TO, BODY)
VALUES (SYSTIMESTAMP,
        coalesce(TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), SYSTIMESTAMP),
        coalesce(:2, 0), :3, :4)
/* the new key */ RETURNING ID INTO :5;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* smsq.Stats */
       count(CASE WHEN STATE = 'new' AND DUE_AT <= SYSTIMESTAMP THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'new' AND DUE_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'busy' AND LEASE_TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'new' AND DUE_AT <= SYSTIMESTAMP THEN INSERTED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   OUTBOX;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, PRIORITY DESC, INSERTED_AT, ID, DUE_AT)
-- arguments: 1: limit
SELECT /* smsq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(INSERTED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), RETRIES, PRIORITY,
                  NUMBER_TO, LAST_ERROR, BODY
           FROM   OUTBOX
           WHERE  STATE = 'new'
           AND    DUE_AT <= SYSTIMESTAMP
           ORDER  BY PRIORITY DESC, INSERTED_AT, ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* smsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'INSERTED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'DUE_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'raw' FROM DUAL UNION ALL
           SELECT 'SENDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RETRIES', 'number' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'NUMBER_TO', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LAST_ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ANSWER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'OUTBOX'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of FIRED
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'TOKEN' AS name, 'raw' AS type FROM DUAL UNION ALL
           SELECT 'OUTBOX_ID', 'number' FROM DUAL UNION ALL
           SELECT 'SENDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'FIRED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of SENTITEMS
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'SENT_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'NUMBER_TO', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ANSWER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CAUSE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'SENTITEMS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of OUTBOX_MULTIPART
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'OUTBOX_ID' AS name, 'number' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'OUTBOX_MULTIPART'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also4.sql
-- verify: columns of TOTALS
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SENT' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'SENT_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'NUMBER_TO', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TOTALS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also5.sql
-- verify: columns of DEAD
-- locks: none
SELECT /* smsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RETRIES', 'number' FROM DUAL UNION ALL
           SELECT 'NUMBER_TO', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LAST_ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'DEAD'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* smsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'OUTBOX_SMS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'OUTBOX'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX OUTBOX_SMS_READY ON OUTBOX (STATE, PRIORITY DESC, INSERTED_AT, ID, DUE_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
