-- Package rendersq uses the table RENDERS as a queue of jobs on Oracle 19 and later.
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
-- Jobs are claimed by the strategy guarded: a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates RENDERS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       accept: true asks about a job before its row is locked or written
--   lease_table  accept: true asks about a job before its row is locked or written
--   hold         accept: true asks about a job before its row is locked or written
--   partition    accept: true asks about a job before its row is locked or written
--   returning    accept: true asks about a job before its row is locked or written
--   block        accept: true asks about a job before its row is locked or written
--   token        accept: true asks about a job before its row is locked or written
--   lock_update  accept: true asks about a job before its row is locked or written
--   advisory     accept: true asks about a job before its row is locked or written
-- * guarded      a job can be asked about before it is taken (accept: true), and the old state is compared when a row is taken
--   pop          accept: true asks about a job before its row is locked or written

-- sql/claim_pick.sql
-- claim: ready rows, of which claim.sql then takes those that the caller accepts
-- locks: none
-- index: (STATE, SITE, URGENCY DESC, ID)
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Claim */
       *
FROM   (
           SELECT ID, SITE, SCENE, MEMORY_MB, URGENCY, TRIES
           FROM   RENDERS
           WHERE  STATE = 'N'
           AND    SITE = :1
           ORDER  BY URGENCY DESC, ID
       )
WHERE  ROWNUM <= :2;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it takes, until commit; waits for rows that are locked
-- index: the key
-- arguments: 1: list ID Tries, 2: param site string
SELECT /* rendersq.Claim */
       ID
FROM   RENDERS
WHERE  ((ID = :v0 AND TRIES = :v0))
AND    STATE = 'N'
AND    SITE = :2
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked
-- locks: the rows it takes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: worker Node
DECLARE /* rendersq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE RENDERS
        SET    STATE = 'A',
               TRIES = TRIES + 1,
               UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               NODE = :2
        WHERE  ID = ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads back the rows that were taken
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* rendersq.Claim */
       ID, SITE, SCENE, MEMORY_MB, URGENCY, TRIES,
       TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), NODE
FROM   RENDERS
WHERE  (ID = :v0);

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES, NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node, 4: counts
DECLARE /* rendersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    NODE_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RENDERS
        SET    STATE = 'D',
               UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES, NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node, 4: counts
DECLARE /* rendersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    NODE_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RENDERS
        SET    STATE = 'N',
               UNTIL_AT = NULL,
               NODE = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES, NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node, 4: counts
DECLARE /* rendersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    NODE_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RENDERS
        SET    STATE = 'E',
               UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES, NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node, 4: counts
DECLARE /* rendersq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    NODE_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RENDERS
        SET    STATE = 'N',
               TRIES = TRIES - 1,
               UNTIL_AT = NULL,
               NODE = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TRIES, NODE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Node, 4: counts
DECLARE /* rendersq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    NODE_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE RENDERS
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    NODE = NODE_HELD(i)
        AND    STATE = 'A';
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
SELECT /* rendersq.Extend */
       ID, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   RENDERS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, URGENCY DESC, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ RENDERS
SET    STATE = 'N',
       UNTIL_AT = NULL,
       NODE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RENDERS
           WHERE  STATE = 'A'
           AND    TRIES < 5
           AND    UNTIL_AT <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES < 5
AND    UNTIL_AT <= SYSTIMESTAMP;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, URGENCY DESC, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* rendersq.Recover */ RENDERS
SET    STATE = 'E',
       UNTIL_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RENDERS
           WHERE  STATE = 'A'
           AND    TRIES >= 5
           AND    UNTIL_AT <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'A'
AND    TRIES >= 5
AND    UNTIL_AT <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, URGENCY DESC, ID)
-- arguments: 1: limit
UPDATE /* rendersq.Redrive */ RENDERS
SET    STATE = 'N',
       TRIES = 0,
       UNTIL_AT = NULL,
       NODE = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RENDERS
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, URGENCY DESC, ID)
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM RENDERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RENDERS
           WHERE  STATE = 'D'
           AND    ROWNUM <= :1)
AND    STATE = 'D';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, URGENCY DESC, ID)
-- arguments: 1: limit
DELETE /* rendersq.Purge */ FROM RENDERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RENDERS
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Site, 2: new Scene, 3: new MemoryMb, 4: new Urgency, 5: new_key
INSERT /* rendersq.Enqueue */ INTO RENDERS
       (SITE, SCENE, MEMORY_MB, URGENCY)
VALUES (:1, :2, :3, coalesce(:4, 0))
/* the new key */ RETURNING ID INTO :5;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rendersq.Stats */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'A' AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   RENDERS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same SITE is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param site string
SELECT /* rendersq.StatsOf */
       count(CASE WHEN STATE = 'N' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'D' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'A' AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   RENDERS
WHERE  SITE = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by SITE
-- locks: none
-- index: (STATE, SITE, URGENCY DESC, ID)
SELECT /* rendersq.Backlog */
       SITE,
       count(*) AS READY
FROM   RENDERS
WHERE  STATE = 'N'
GROUP  BY SITE
ORDER  BY SITE;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, SITE, URGENCY DESC, ID)
-- arguments: 1: param site string, 2: limit
SELECT /* rendersq.Peek */
       *
FROM   (
           SELECT ID, SITE, SCENE, MEMORY_MB, URGENCY, TRIES
           FROM   RENDERS
           WHERE  STATE = 'N'
           AND    SITE = :1
           ORDER  BY URGENCY DESC, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rendersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* rendersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'SITE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SCENE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MEMORY_MB', 'number' FROM DUAL UNION ALL
           SELECT 'URGENCY', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'UNTIL_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'NODE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'RENDERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* rendersq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'RENDERS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'RENDERS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX RENDERS_READY ON RENDERS (STATE, SITE, URGENCY DESC, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
