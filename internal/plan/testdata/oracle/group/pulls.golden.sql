-- Package pullsq uses the table PULLS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in REPO, one runs at once; a claim locks the row of TENANTS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PULLS_READY.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of TENANTS for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (STATE, REPO, WEIGHT DESC, ID)
-- arguments: 1: param repo string, 2: cursor
DECLARE /* pullsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PULLS PULLS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PULLS
        WHERE  STATE = 'new'
        AND    REPO = :1
        AND    NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   PULLS other
               WHERE  other.REPO = :1
               AND    other.STATE = 'busy')
        ORDER  BY WEIGHT DESC, ID
        FOR    UPDATE SKIP LOCKED;
    found SYS.ODCIVARCHAR2LIST;
    held SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found LIMIT 1;
    CLOSE candidate;
    FOR found_row IN (
        SELECT ROWIDTOCHAR(ROWID) AS place, REPO
        FROM   PULLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
    ) LOOP
        FOR i IN (
            SELECT 1
            FROM   TENANTS
            WHERE  id = found_row.repo
            FOR    UPDATE SKIP LOCKED
        ) LOOP
            held.EXTEND;
            held(held.COUNT) := found_row.place;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked
    FROM   PULLS
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held))
    AND    (SELECT count(*)
               FROM   PULLS other
               WHERE  other.REPO = PULLS.REPO
               AND    other.STATE = 'busy') = 0;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PULLS
        SET    STATE = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, REPO, WEIGHT
        FROM   PULLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* pullsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PULLS
        SET    STATE = 'over'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* pullsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PULLS
        SET    STATE = 'dead'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: counts
DECLARE /* pullsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE PULLS
        SET    STATE = 'new'
        WHERE  ID = ID_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REPO, WEIGHT DESC, ID)
-- arguments: 1: limit
UPDATE /* pullsq.Redrive */ PULLS
SET    STATE = 'new'
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PULLS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REPO, WEIGHT DESC, ID)
-- arguments: 1: limit
DELETE /* pullsq.Purge */ FROM PULLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PULLS
           WHERE  STATE = 'over'
           AND    ROWNUM <= :1)
AND    STATE = 'over';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, REPO, WEIGHT DESC, ID)
-- arguments: 1: limit
DELETE /* pullsq.Purge */ FROM PULLS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PULLS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Repo, 2: new Weight, 3: new_key
INSERT /* pullsq.Enqueue */ INTO PULLS
       (REPO, WEIGHT)
VALUES (:1, :2)
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pullsq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'over' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED
FROM   PULLS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same REPO is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param repo string
SELECT /* pullsq.StatsOf */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'over' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED
FROM   PULLS
WHERE  REPO = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by REPO
-- locks: none
-- index: (STATE, REPO, WEIGHT DESC, ID)
SELECT /* pullsq.Backlog */
       REPO,
       count(*) AS READY
FROM   PULLS
WHERE  STATE = 'new'
GROUP  BY REPO
ORDER  BY REPO;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, REPO, WEIGHT DESC, ID)
-- arguments: 1: param repo string, 2: param repo string
SELECT /* pullsq.Peek */
       *
FROM   (
           SELECT ID, REPO, WEIGHT
           FROM   PULLS
           WHERE  STATE = 'new'
           AND    REPO = :1
           AND    NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   PULLS other
               WHERE  other.REPO = :2
               AND    other.STATE = 'busy')
           ORDER  BY WEIGHT DESC, ID
       )
WHERE  ROWNUM <= 1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pullsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pullsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'REPO', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PULLS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pullsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PULLS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PULLS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: the running rows of a group
CREATE INDEX PULLS_READY ON PULLS (STATE, REPO, WEIGHT DESC, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
