-- Package sitesq uses the table EXPORTS as a queue of jobs on Oracle 19 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in SITE_ID, at most as many run at once as this says: select max_jobs from settings where id = {row}.site_id; a claim locks the row of SETTINGS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again, and those without tries left failed.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EXPORTS_SETTLED_READY and EXPORTS_SITES_LINE.
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
--   lock_update  the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   advisory     Oracle has no locks on numbers
--   guarded      the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: tries are counted in column "TRIES" when they begin (on=claim)
-- note: rows are taken as they came, by column "ID"
-- note: the fence is the count in column "TRIES" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for SITE_ID has it read rows of one group alone

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of SETTINGS for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* sitesq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EXPORTS EXPORTS_SETTLED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EXPORTS
        WHERE  STATE = 'new'
        AND    coalesce((select max_jobs from settings where id = EXPORTS.site_id), 0) > (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'busy')
        AND    coalesce((select max_jobs from settings where id = EXPORTS.site_id), 0) > (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'new'
               AND    other.ID < EXPORTS.ID)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    found SYS.ODCIVARCHAR2LIST;
    held SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found LIMIT :1;
    CLOSE candidate;
    FOR found_row IN (
        SELECT ROWIDTOCHAR(ROWID) AS place, SITE_ID
        FROM   EXPORTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
    ) LOOP
        FOR i IN (
            SELECT 1
            FROM   SETTINGS
            WHERE  id = found_row.site_id
            FOR    UPDATE SKIP LOCKED
        ) LOOP
            held.EXTEND;
            held(held.COUNT) := found_row.place;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked
    FROM   EXPORTS
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held))
    AND    coalesce((select max_jobs from settings where id = EXPORTS.site_id), 0) > (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'new'
               AND    other.ID < EXPORTS.ID);
    FORALL i IN 1 .. picked.COUNT
        UPDATE EXPORTS
        SET    STATE = 'busy',
               TRIES = TRIES + 1,
               TAKEN_AT = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, SITE_ID, TRIES, TO_CHAR(TAKEN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   EXPORTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* sitesq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 'over'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* sitesq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 'new',
               TAKEN_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* sitesq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 'dead'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* sitesq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    STATE = 'new',
               TRIES = TRIES - 1,
               TAKEN_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* sitesq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE EXPORTS
        SET    TAKEN_AT = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* sitesq.Recover */ EXPORTS
SET    STATE = 'new',
       TAKEN_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 'busy'
           AND    TRIES < 3
           AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    TRIES < 3
AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(600, 'SECOND');

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* sitesq.Recover */ EXPORTS
SET    STATE = 'dead'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 'busy'
           AND    TRIES >= 3
           AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    TRIES >= 3
AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(600, 'SECOND');

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* sitesq.Redrive */ EXPORTS
SET    STATE = 'new',
       TRIES = 0,
       TAKEN_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* sitesq.Purge */ FROM EXPORTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 'over'
           AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'over'
AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID); it reads those that are not old enough as well, which one on (STATE, TAKEN_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* sitesq.Purge */ FROM EXPORTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EXPORTS
           WHERE  STATE = 'dead'
           AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'dead'
AND    TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new SiteID, 2: new_key
INSERT /* sitesq.Enqueue */ INTO EXPORTS
       (SITE_ID)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* sitesq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'over' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TAKEN_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'busy' THEN TAKEN_AT END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   EXPORTS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* sitesq.Backlog */
       count(*) AS READY
FROM   EXPORTS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* sitesq.Peek */
       *
FROM   (
           SELECT ID, SITE_ID, TRIES
           FROM   EXPORTS
           WHERE  STATE = 'new'
           AND    coalesce((select max_jobs from settings where id = EXPORTS.site_id), 0) > (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'busy')
           AND    coalesce((select max_jobs from settings where id = EXPORTS.site_id), 0) > (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   EXPORTS other
               WHERE  other.SITE_ID = EXPORTS.SITE_ID
               AND    other.STATE = 'new'
               AND    other.ID < EXPORTS.ID)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* sitesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* sitesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'SITE_ID', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'TAKEN_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EXPORTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* sitesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EXPORTS_SETTLED_READY' AS name FROM DUAL UNION ALL
           SELECT 'EXPORTS_SITES_LINE' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EXPORTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
-- settledq advises the same
CREATE INDEX EXPORTS_SETTLED_READY ON EXPORTS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Claim: who is before a row in its group, and which of them run
CREATE INDEX EXPORTS_SITES_LINE ON EXPORTS (SITE_ID, STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
