-- Package begunq uses the table BEGUN as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> claimed
-- 	claimed  --Start-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Whatever is done to a running job can be done to a claimed one as well: it can be completed, fail and be given back before it has begun, and a claim that runs out before Start is recovered like one that runs out after it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs claimed or running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates BEGUN_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to claimed
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, "START", ID)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* begunq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BEGUN BEGUN_READY) */ ROWIDTOCHAR(ROWID)
        FROM   BEGUN
        WHERE  STATE = 0
        AND    "START" IS NULL
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE BEGUN
        SET    STATE = 1,
               "START" = NULL,
               SINCE = SYSTIMESTAMP,
               HOLDER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TO_CHAR(SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), HOLDER
        FROM   BEGUN
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/start.sql
-- start: claimed to running
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder, 4: counts
DECLARE /* begunq.Start */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BEGUN
        SET    "START" = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    HOLDER = HOLDER_HELD(i)
        AND    "START" IS NULL
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/complete.sql
-- complete: claimed or running to done
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder, 4: counts
DECLARE /* begunq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BEGUN
        SET    STATE = 2
        WHERE  ID = ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/retry.sql
-- retry: claimed or running to ready
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder, 4: counts
DECLARE /* begunq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BEGUN
        SET    STATE = 0,
               "START" = NULL,
               SINCE = NULL,
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: claimed or running to ready, no try used
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder, 4: counts
DECLARE /* begunq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BEGUN
        SET    STATE = 0,
               "START" = NULL,
               SINCE = NULL,
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: claimed or running stays so, its lease begins anew
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: batch Holder, 4: counts
DECLARE /* begunq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BEGUN
        SET    SINCE = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    SINCE = TO_TIMESTAMP_TZ(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 1;
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
SELECT /* begunq.Extend */
       ID, TO_CHAR(SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   BEGUN
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: claimed or running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, "START", ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* begunq.Recover */ BEGUN
SET    STATE = 0,
       "START" = NULL,
       SINCE = NULL,
       HOLDER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   BEGUN
           WHERE  STATE = 1
           AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 1
AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND');

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, "START", ID); it reads those that are not old enough as well, which one on (STATE, SINCE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* begunq.Purge */ FROM BEGUN
WHERE  ROWID IN (
           SELECT ROWID
           FROM   BEGUN
           WHERE  STATE = 2
           AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 2
AND    SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* begunq.Enqueue */ INTO BEGUN
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* begunq.Stats */
       count(CASE WHEN STATE = 0 AND "START" IS NULL THEN 1 END) AS READY,
       count(CASE WHEN "START" IS NULL AND STATE = 1 THEN 1 END) AS CLAIMED,
       count(CASE WHEN "START" IS NOT NULL AND STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 2 THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 1 AND SINCE <= SYSTIMESTAMP - NUMTODSINTERVAL(300, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 1 THEN SINCE END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   BEGUN;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, "START", ID)
SELECT /* begunq.Backlog */
       count(*) AS READY
FROM   BEGUN
WHERE  STATE = 0
AND    "START" IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, "START", ID)
-- arguments: 1: limit
SELECT /* begunq.Peek */
       *
FROM   (
           SELECT ID
           FROM   BEGUN
           WHERE  STATE = 0
           AND    "START" IS NULL
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* begunq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* begunq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'START', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'SINCE', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BEGUN'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* begunq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'BEGUN_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'BEGUN'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX BEGUN_READY ON BEGUN (STATE, "START", ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
