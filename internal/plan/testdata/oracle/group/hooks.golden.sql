-- Package hooksq uses the table HOOKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
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
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in TENANT, at most 2 run at once; a claim locks the row of TENANTS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates HOOKS_READY and HOOKS_LINE.
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
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for TENANT has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of TENANTS for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (STATE, KIND, WEIGHT DESC, ID)
-- arguments: 1: param kind string, 2: limit, 3: cursor
DECLARE /* hooksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(HOOKS HOOKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   HOOKS
        WHERE  STATE = 'new'
        AND    KIND = :1
        AND    ((TENANT IS NULL OR TENANT = '*')
           OR ((SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'busy'
               AND    ROWNUM <= 2) < 2
           AND 2 > (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'new'
               AND    other.KIND = :1
               AND    (other.WEIGHT > HOOKS.WEIGHT OR other.WEIGHT = HOOKS.WEIGHT AND other.ID < HOOKS.ID)
               AND    ROWNUM <= 2)))
        ORDER  BY WEIGHT DESC, ID
        FOR    UPDATE SKIP LOCKED;
    found SYS.ODCIVARCHAR2LIST;
    held SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found LIMIT :2;
    CLOSE candidate;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO held
    FROM   HOOKS
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
    AND    ((TENANT IS NULL OR TENANT = '*'));
    FOR found_row IN (
        SELECT ROWIDTOCHAR(ROWID) AS place, TENANT
        FROM   HOOKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
        AND    TENANT <> '*'
    ) LOOP
        FOR i IN (
            SELECT 1
            FROM   TENANTS
            WHERE  id = found_row.tenant
            FOR    UPDATE SKIP LOCKED
        ) LOOP
            held.EXTEND;
            held(held.COUNT) := found_row.place;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked
    FROM   HOOKS
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held))
    AND    ((TENANT IS NULL OR TENANT = '*')
           OR 2 > (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'new'
               AND    other.KIND = :1
               AND    (other.WEIGHT > HOOKS.WEIGHT OR other.WEIGHT = HOOKS.WEIGHT AND other.ID < HOOKS.ID)
               AND    ROWNUM <= 2));
    FORALL i IN 1 .. picked.COUNT
        UPDATE HOOKS
        SET    STATE = 'busy',
               UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TENANT, KIND, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               WEIGHT
        FROM   HOOKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* hooksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE HOOKS
        SET    STATE = 'sent',
               UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* hooksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE HOOKS
        SET    STATE = 'dead',
               UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* hooksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE HOOKS
        SET    STATE = 'new',
               UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* hooksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE HOOKS
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
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
SELECT /* hooksq.Extend */
       ID, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   HOOKS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, WEIGHT DESC, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* hooksq.Recover */ HOOKS
SET    STATE = 'new',
       UNTIL_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   HOOKS
           WHERE  STATE = 'busy'
           AND    UNTIL_AT <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    UNTIL_AT <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, WEIGHT DESC, ID)
-- arguments: 1: limit
UPDATE /* hooksq.Redrive */ HOOKS
SET    STATE = 'new',
       UNTIL_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   HOOKS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, WEIGHT DESC, ID)
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM HOOKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   HOOKS
           WHERE  STATE = 'sent'
           AND    ROWNUM <= :1)
AND    STATE = 'sent';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, WEIGHT DESC, ID)
-- arguments: 1: limit
DELETE /* hooksq.Purge */ FROM HOOKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   HOOKS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Tenant, 2: new Kind, 3: new Weight, 4: new_key
INSERT /* hooksq.Enqueue */ INTO HOOKS
       (TENANT, KIND, WEIGHT)
VALUES (:1, :2, coalesce(:3, 0))
/* the new key */ RETURNING ID INTO :4;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* hooksq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   HOOKS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same KIND is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* hooksq.StatsOf */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   HOOKS
WHERE  KIND = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by KIND
-- locks: none
-- index: (STATE, KIND, WEIGHT DESC, ID)
SELECT /* hooksq.Backlog */
       KIND,
       count(*) AS READY
FROM   HOOKS
WHERE  STATE = 'new'
GROUP  BY KIND
ORDER  BY KIND;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, KIND, WEIGHT DESC, ID)
-- arguments: 1: param kind string, 2: param kind string, 3: limit
SELECT /* hooksq.Peek */
       *
FROM   (
           SELECT ID, TENANT, KIND, WEIGHT
           FROM   HOOKS
           WHERE  STATE = 'new'
           AND    KIND = :1
           AND    ((TENANT IS NULL OR TENANT = '*')
           OR ((SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'busy'
               AND    ROWNUM <= 2) < 2
           AND 2 > (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   HOOKS other
               WHERE  other.TENANT = HOOKS.TENANT
               AND    other.STATE = 'new'
               AND    other.KIND = :2
               AND    (other.WEIGHT > HOOKS.WEIGHT OR other.WEIGHT = HOOKS.WEIGHT AND other.ID < HOOKS.ID)
               AND    ROWNUM <= 2)))
           ORDER  BY WEIGHT DESC, ID
       )
WHERE  ROWNUM <= :3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* hooksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* hooksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'TENANT', 'varchar2' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'UNTIL_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'HOOKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* hooksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'HOOKS_READY' AS name FROM DUAL UNION ALL
           SELECT 'HOOKS_LINE' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'HOOKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Recover: rows that somebody has, which are few
CREATE INDEX HOOKS_READY ON HOOKS (STATE, KIND, WEIGHT DESC, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Claim: who is before a row in its group, and which of them run
CREATE INDEX HOOKS_LINE ON HOOKS (TENANT, STATE, WEIGHT DESC, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
