-- Package blocksq uses the table BLOCKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates BLOCKS_READY.
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
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, NODE); the ready rows are then sorted
-- arguments: 1: param_list node []int64, 2: limit, 3: cursor
DECLARE /* blocksq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BLOCKS BLOCKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   BLOCKS
        WHERE  STATUS IN (0, 3)
        AND    NODE IN (:v0)
        ORDER  BY ((select p.priority from priorities p where p.id = BLOCKS.id)), ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE BLOCKS
        SET    STATUS = 4,
               BEGAN = SYSTIMESTAMP
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, NODE, TO_CHAR(BEGAN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   BLOCKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: BEGAN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Began, 3: counts
DECLARE /* blocksq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    BEGAN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BLOCKS
        SET    STATUS = 1
        WHERE  ID = ID_HELD(i)
        AND    BEGAN = TO_TIMESTAMP_TZ(BEGAN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 4;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: BEGAN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Began, 3: counts
DECLARE /* blocksq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    BEGAN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BLOCKS
        SET    STATUS = 0,
               BEGAN = NULL
        WHERE  ID = ID_HELD(i)
        AND    BEGAN = TO_TIMESTAMP_TZ(BEGAN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 4;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: BEGAN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Began, 3: counts
DECLARE /* blocksq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    BEGAN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BLOCKS
        SET    STATUS = 0,
               BEGAN = NULL
        WHERE  ID = ID_HELD(i)
        AND    BEGAN = TO_TIMESTAMP_TZ(BEGAN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 4;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: BEGAN as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Began, 3: counts
DECLARE /* blocksq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    BEGAN_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BLOCKS
        SET    BEGAN = SYSTIMESTAMP
        WHERE  ID = ID_HELD(i)
        AND    BEGAN = TO_TIMESTAMP_TZ(BEGAN_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATUS = 4;
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
SELECT /* blocksq.Extend */
       ID, TO_CHAR(BEGAN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   BLOCKS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, NODE), which finds the rows that somebody has by STATUS
-- arguments: 1: limit
UPDATE /* blocksq.Recover */ BLOCKS
SET    STATUS = 0,
       BEGAN = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   BLOCKS
           WHERE  STATUS = 4
           AND    BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 4
AND    BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND');

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, NODE); it reads those that are not old enough as well, which one on (STATUS, BEGAN) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* blocksq.Purge */ FROM BLOCKS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   BLOCKS
           WHERE  STATUS = 1
           AND    BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATUS = 1
AND    BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node
INSERT /* blocksq.Enqueue */ INTO BLOCKS
       (ID, NODE)
VALUES (:1, :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* blocksq.Stats */
       count(CASE WHEN STATUS IN (0, 3) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 4 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 1 THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 4 AND BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATUS = 4 THEN BEGAN END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   BLOCKS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same NODE is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param_list node []int64
SELECT /* blocksq.StatsOf */
       count(CASE WHEN STATUS IN (0, 3) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 4 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 1 THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 4 AND BEGAN <= SYSTIMESTAMP - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATUS = 4 THEN BEGAN END)) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   BLOCKS
WHERE  NODE IN (:v0);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by NODE
-- locks: none
-- index: (STATUS, NODE)
SELECT /* blocksq.Backlog */
       NODE,
       count(*) AS READY
FROM   BLOCKS
WHERE  STATUS IN (0, 3)
GROUP  BY NODE
ORDER  BY NODE;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, NODE); the ready rows are then sorted
-- arguments: 1: param_list node []int64, 2: limit
SELECT /* blocksq.Peek */
       *
FROM   (
           SELECT ID, NODE
           FROM   BLOCKS
           WHERE  STATUS IN (0, 3)
           AND    NODE IN (:v0)
           ORDER  BY ((select p.priority from priorities p where p.id = BLOCKS.id)), ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* blocksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* blocksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'NODE', 'number' FROM DUAL UNION ALL
           SELECT 'STATUS', 'number' FROM DUAL UNION ALL
           SELECT 'BEGAN', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BLOCKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* blocksq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'BLOCKS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'BLOCKS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those; it also serves Recover: rows that somebody has, which are few
CREATE INDEX BLOCKS_READY ON BLOCKS (STATUS, NODE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
