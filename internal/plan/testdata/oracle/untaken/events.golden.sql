-- Package eventsq uses the table EVENTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EVENTS_READY and EVENTS_EXPIRED.
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
-- note: the status does not tell ready rows from running ones, so qgen:worker at column "HOLDER" does: a row is ready only while HOLDER = '-', and not where something else has left a value there
-- note: the fence compares column "HELD_AT", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, HOLDER, RANK, ID)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* eventsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EVENTS EVENTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EVENTS
        WHERE  STATE = 'waiting'
        AND    HOLDER = '-'
        ORDER  BY RANK, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE EVENTS
        SET    HOLDER = :2,
               HELD_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, RANK, HOLDER, HELD_AT
        FROM   EVENTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/start.sql
-- start: claimed to running
-- fence: HELD_AT, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder, 4: counts
DECLARE /* eventsq.Start */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    STATE = 'busy'
        WHERE  ID = ID_HELD(i)
        AND    HELD_AT = HELD_AT_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'waiting'
        AND    HOLDER <> '-';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: HELD_AT, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder, 4: counts
DECLARE /* eventsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    STATE = 'complete'
        WHERE  ID = ID_HELD(i)
        AND    HELD_AT = HELD_AT_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('waiting', 'busy')
        AND    HOLDER <> '-';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: claimed or running to failed
-- fence: HELD_AT, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder, 4: counts
DECLARE /* eventsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    STATE = 'failed'
        WHERE  ID = ID_HELD(i)
        AND    HELD_AT = HELD_AT_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('waiting', 'busy')
        AND    HOLDER <> '-';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: HELD_AT, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder, 4: counts
DECLARE /* eventsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    STATE = 'waiting',
               HOLDER = '-',
               HELD_AT = 0
        WHERE  ID = ID_HELD(i)
        AND    HELD_AT = HELD_AT_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('waiting', 'busy')
        AND    HOLDER <> '-';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: HELD_AT, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch HeldAt, 3: batch Holder, 4: counts
DECLARE /* eventsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HELD_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EVENTS
        SET    HELD_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        WHERE  ID = ID_HELD(i)
        AND    HELD_AT = HELD_AT_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE IN ('waiting', 'busy')
        AND    HOLDER <> '-';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* eventsq.Extend */
       ID, HELD_AT
FROM   EVENTS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (HELD_AT)
-- arguments: 1: limit
UPDATE /* eventsq.Recover */ EVENTS
SET    STATE = 'waiting',
       HOLDER = '-',
       HELD_AT = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  STATE IN ('waiting', 'busy')
           AND    HOLDER <> '-'
           AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - 300)
           AND    HELD_AT > 0
           AND    ROWNUM <= :1)
AND    STATE IN ('waiting', 'busy')
AND    HOLDER <> '-'
AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - 300)
AND    HELD_AT > 0;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, HOLDER, RANK, ID)
-- arguments: 1: limit
UPDATE /* eventsq.Redrive */ EVENTS
SET    STATE = 'waiting',
       HOLDER = '-',
       HELD_AT = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  STATE = 'failed'
           AND    ROWNUM <= :1)
AND    STATE = 'failed';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, HOLDER, RANK, ID); it reads those that are not old enough as well, which one on (STATE, HELD_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* eventsq.Purge */ FROM EVENTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  STATE = 'complete'
           AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
           AND    ROWNUM <= :2)
AND    STATE = 'complete'
AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :3);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, HOLDER, RANK, ID); it reads those that are not old enough as well, which one on (STATE, HELD_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* eventsq.Purge */ FROM EVENTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  STATE = 'failed'
           AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :1)
           AND    ROWNUM <= :2)
AND    STATE = 'failed'
AND    HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - :3);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Rank, 2: new_key
INSERT /* eventsq.Enqueue */ INTO EVENTS
       (RANK, STATE, HOLDER)
VALUES (:1, 'waiting', '-')
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(CASE WHEN STATE = 'waiting' AND HOLDER = '-' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'waiting' AND HOLDER <> '-' THEN 1 END) AS CLAIMED,
       count(CASE WHEN STATE = 'busy' AND HOLDER <> '-' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'complete' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'failed' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE IN ('waiting', 'busy') AND HOLDER <> '-' AND HELD_AT <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - 300) AND HELD_AT > 0 THEN 1 END) AS EXPIRED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN STATE IN ('waiting', 'busy') AND HOLDER <> '-' THEN HELD_AT END) AS OLDEST_RUNNING
FROM   EVENTS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, HOLDER, RANK, ID)
SELECT /* eventsq.Backlog */
       count(*) AS READY
FROM   EVENTS
WHERE  STATE = 'waiting'
AND    HOLDER = '-';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, HOLDER, RANK, ID)
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       *
FROM   (
           SELECT ID, RANK, HOLDER, HELD_AT
           FROM   EVENTS
           WHERE  STATE = 'waiting'
           AND    HOLDER = '-'
           ORDER  BY RANK, ID
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
           SELECT 'RANK', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'HELD_AT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVENTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EVENTS_READY' AS name FROM DUAL UNION ALL
           SELECT 'EVENTS_EXPIRED' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EVENTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX EVENTS_READY ON EVENTS (STATE, HOLDER, RANK, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Recover: claims that ran out
CREATE INDEX EVENTS_EXPIRED ON EVENTS (HELD_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
