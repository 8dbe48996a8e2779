-- Package ticksq uses the table TICKS as a queue of jobs on Oracle 19 and later.
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
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates TICKS_READY.
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
-- note: times of column "ENDED" have 19 digits, which last until 11 April 2262
-- note: rows are taken as they came, by column "ID"; order 1 at column "DUE_AT" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID, DUE_AT)
-- arguments: 1: limit, 2: cursor
DECLARE /* ticksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(TICKS TICKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   TICKS
        WHERE  STATE = 'N'
        AND    DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TICKS
        SET    STATE = 'A',
               SINCE = (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, DUE_AT, SINCE, TRIES, WAIT_S
        FROM   TICKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* ticksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TICKS
        SET    STATE = 'D',
               ENDED = LPAD(TO_CHAR((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))), 19, '0')
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* ticksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TICKS
        SET    STATE = 'N',
               DUE_AT = (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP + CAST((NUMTODSINTERVAL(60, 'SECOND')) AS INTERVAL DAY TO SECOND)) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP + CAST((NUMTODSINTERVAL(60, 'SECOND')) AS INTERVAL DAY TO SECOND), 'FF9'))),
               SINCE = NULL,
               TRIES = TRIES + 1
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* ticksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TICKS
        SET    STATE = 'F',
               TRIES = TRIES + 1
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: delay, 4: counts
DECLARE /* ticksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TICKS
        SET    STATE = 'N',
               DUE_AT = CASE WHEN :3 > 0.0 THEN FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) + :3 * 1000000000) ELSE DUE_AT END,
               SINCE = NULL
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* ticksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TICKS
        SET    SINCE = (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
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
SELECT /* ticksq.Extend */
       ID, SINCE
FROM   TICKS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, DUE_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ TICKS
SET    STATE = 'N',
       SINCE = NULL,
       TRIES = TRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TICKS
           WHERE  STATE = 'A'
           AND    TRIES < 2
           AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - WAIT_S * 1000000000)
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES < 2
AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - WAIT_S * 1000000000);

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, DUE_AT), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* ticksq.Recover */ TICKS
SET    STATE = 'F',
       TRIES = TRIES + 1
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TICKS
           WHERE  STATE = 'A'
           AND    TRIES >= 2
           AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - WAIT_S * 1000000000)
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES >= 2
AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - WAIT_S * 1000000000);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, DUE_AT)
-- arguments: 1: limit
UPDATE /* ticksq.Redrive */ TICKS
SET    STATE = 'N',
       SINCE = NULL,
       TRIES = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TICKS
           WHERE  STATE = 'F'
           AND    ROWNUM <= :1)
AND    STATE = 'F';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, DUE_AT); it reads those that are not old enough as well, which one on (STATE, ENDED) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* ticksq.Purge */ FROM TICKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TICKS
           WHERE  STATE = 'D'
           AND    ENDED <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - :1 * 1000000000), 9223372036854775807))), 19, '0')
           AND    ROWNUM <= :2)
AND    STATE = 'D'
AND    ENDED <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - :3 * 1000000000), 9223372036854775807))), 19, '0');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, DUE_AT); it reads those that are not old enough as well, which one on (STATE, SINCE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* ticksq.Purge */ FROM TICKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   TICKS
           WHERE  STATE = 'F'
           AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - :1 * 1000000000)
           AND    ROWNUM <= :2)
AND    STATE = 'F'
AND    SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - :3 * 1000000000);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new WaitS, 3: new_key
INSERT /* ticksq.Enqueue */ INTO TICKS
       (DUE_AT, WAIT_S)
VALUES (coalesce(:1, (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))),
        coalesce(:2, 60))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ticksq.Stats */
       count(CASE WHEN STATE = 'N' AND DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'F' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND DUE_AT > (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND SINCE <= FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')) - WAIT_S * 1000000000) THEN 1 END) AS EXPIRED,
       ((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) - min(CASE WHEN STATE = 'N' AND DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN DUE_AT END)) / 1000000000 AS OLDEST_READY,
       ((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) - min(CASE WHEN STATE = 'A' THEN SINCE END)) / 1000000000 AS OLDEST_RUNNING,
       avg(CASE WHEN STATE = 'D' THEN (TO_NUMBER(ENDED) - SINCE) / 1000000000 END) AS MEAN_RUN
FROM   TICKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID, DUE_AT)
SELECT /* ticksq.Backlog */
       count(CASE WHEN DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN 1 END) AS READY,
       count(CASE WHEN DUE_AT > (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN 1 END) AS DELAYED,
       ((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) - min(CASE WHEN DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9'))) THEN DUE_AT END)) / 1000000000 AS OLDEST_READY
FROM   TICKS
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID, DUE_AT)
-- arguments: 1: limit
SELECT /* ticksq.Peek */
       *
FROM   (
           SELECT ID, DUE_AT, TRIES, WAIT_S
           FROM   TICKS
           WHERE  STATE = 'N'
           AND    DUE_AT <= (FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000000000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF9')))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ticksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ticksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'DUE_AT', 'number' FROM DUAL UNION ALL
           SELECT 'SINCE', 'number' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'ENDED', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WAIT_S', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TICKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ticksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'TICKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'TICKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; it also serves Recover: rows that somebody has
CREATE INDEX TICKS_READY ON TICKS (STATE, ID, DUE_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
