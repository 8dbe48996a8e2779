-- Package everyq uses the table EVERY as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- A job never ends: Complete makes it ready again, due after the time that the row has in EVERY. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EVERY_READY.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "ID"; order 1 at column "RUN_AT" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit, 2: cursor
DECLARE /* everyq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EVERY EVERY_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EVERY
        WHERE  STATE = 'N'
        AND    TRIES > 0
        AND    (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE EVERY
        SET    STATE = 'A',
               TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, EVERY
        FROM   EVERY
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* everyq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVERY
        SET    STATE = 'N',
               RUN_AT = SYSTIMESTAMP + NUMTODSINTERVAL(EVERY * 60, 'SECOND'),
               TILL = NULL,
               TRIES = 3,
               RAN_AT = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: delay, 4: counts
DECLARE /* everyq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVERY
        SET    STATE = 'N',
               RUN_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               TILL = NULL,
               TRIES = TRIES - 1
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* everyq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVERY
        SET    STATE = 'N',
               TILL = NULL,
               TRIES = 0
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: delay, 4: counts
DECLARE /* everyq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVERY
        SET    STATE = 'N',
               RUN_AT = CASE WHEN :3 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND') ELSE RUN_AT END,
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* everyq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVERY
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
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
SELECT /* everyq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   EVERY
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* everyq.Recover */ EVERY
SET    STATE = 'N',
       TILL = NULL,
       TRIES = TRIES - 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVERY
           WHERE  STATE = 'A'
           AND    TRIES > 1
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES > 1
AND    TILL <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* everyq.Recover */ EVERY
SET    STATE = 'N',
       TILL = NULL,
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVERY
           WHERE  STATE = 'A'
           AND    TRIES <= 1
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES <= 1
AND    TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT); it reads others as well
-- arguments: 1: limit
UPDATE /* everyq.Redrive */ EVERY
SET    TILL = NULL,
       TRIES = 3
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVERY
           WHERE  STATE = 'N'
           AND    TRIES <= 0
           AND    ROWNUM <= :1)
AND    STATE = 'N'
AND    TRIES <= 0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new Every, 3: new_key
INSERT /* everyq.Enqueue */ INTO EVERY
       (RUN_AT, EVERY)
VALUES (TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), coalesce(:2, 60))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* everyq.Stats */
       count(CASE WHEN STATE = 'N' AND TRIES > 0 AND (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'N' AND TRIES <= 0 THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND TRIES > 0 AND RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND TRIES > 0 AND (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EVERY;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID, RUN_AT); it reads others as well
SELECT /* everyq.Backlog */
       count(CASE WHEN (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EVERY
WHERE  STATE = 'N'
AND    TRIES > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
SELECT /* everyq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, EVERY
           FROM   EVERY
           WHERE  STATE = 'N'
           AND    TRIES > 0
           AND    (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* everyq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* everyq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'EVERY', 'number' FROM DUAL UNION ALL
           SELECT 'RAN_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVERY'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* everyq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EVERY_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EVERY'
           AND    have.index_name = want.name);

-- serves Claim: rows in queue order, so that nothing is sorted; those that failed are read and passed over; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has, which are few
CREATE INDEX EVERY_READY ON EVERY (STATE, ID, RUN_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
