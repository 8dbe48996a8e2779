-- Package ordersq uses the table ORDERS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ORDERS_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, ID
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, KIND); the ready rows are then sorted
-- arguments: 1: param kind string, 2: limit, 3: token Mark, 4: cursor
DECLARE /* ordersq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(ORDERS ORDERS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   ORDERS
        WHERE  STATUS IN ('NEW', 'AGAIN')
        AND    KIND = :1
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE ORDERS
        SET    STATUS = 'RUNNING',
               MARK = :3
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :4 FOR
        SELECT ID, KIND, MARK
        FROM   ORDERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* ordersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ORDERS
        SET    STATUS = 'DONE'
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* ordersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ORDERS
        SET    STATUS = 'NEW',
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* ordersq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ORDERS
        SET    STATUS = 'NEW',
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, KIND)
-- arguments: 1: limit
DELETE /* ordersq.Purge */ FROM ORDERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   ORDERS
           WHERE  STATUS = 'DONE'
           AND    ROWNUM <= :1)
AND    STATUS = 'DONE';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Kind
INSERT /* ordersq.Enqueue */ INTO ORDERS
       (ID, STATUS, KIND)
VALUES (:1, 'NEW', :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(CASE WHEN STATUS IN ('NEW', 'AGAIN') THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'RUNNING' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE
FROM   ORDERS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same KIND is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* ordersq.StatsOf */
       count(CASE WHEN STATUS IN ('NEW', 'AGAIN') THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'RUNNING' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE
FROM   ORDERS
WHERE  KIND = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by KIND
-- locks: none
-- index: (STATUS, KIND)
SELECT /* ordersq.Backlog */
       KIND,
       count(*) AS READY
FROM   ORDERS
WHERE  STATUS IN ('NEW', 'AGAIN')
GROUP  BY KIND
ORDER  BY KIND;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, KIND); the ready rows are then sorted
-- arguments: 1: param kind string, 2: limit
SELECT /* ordersq.Peek */
       *
FROM   (
           SELECT ID, KIND
           FROM   ORDERS
           WHERE  STATUS IN ('NEW', 'AGAIN')
           AND    KIND = :1
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MARK', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ORDERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ordersq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'ORDERS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'ORDERS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those
CREATE INDEX ORDERS_READY ON ORDERS (STATUS, KIND) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
