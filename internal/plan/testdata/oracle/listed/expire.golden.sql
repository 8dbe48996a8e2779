-- Package expireq uses the table BLOCKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates BLOCKS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: no order is said: rows are taken in the order of the key, ID

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATUS, NODE); the ready rows are then sorted
-- arguments: 1: limit, 2: cursor
DECLARE /* expireq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BLOCKS BLOCKS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   BLOCKS
        WHERE  STATUS IN (0, 3)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID, NODE, TO_CHAR(BEGAN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   BLOCKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* expireq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE BLOCKS
        SET    STATUS = 6
        WHERE  ID = ID_PICKED(i);
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Node, 3: new Began
INSERT /* expireq.Enqueue */ INTO BLOCKS
       (ID, NODE, BEGAN)
VALUES (:1, :2, TO_TIMESTAMP_TZ(:3, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* expireq.Stats */
       count(CASE WHEN STATUS IN (0, 3) THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 6 THEN 1 END) AS DONE
FROM   BLOCKS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, NODE)
SELECT /* expireq.Backlog */
       count(*) AS READY
FROM   BLOCKS
WHERE  STATUS IN (0, 3);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, NODE); the ready rows are then sorted
-- arguments: 1: limit
SELECT /* expireq.Peek */
       *
FROM   (
           SELECT ID, NODE, TO_CHAR(BEGAN, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
           FROM   BLOCKS
           WHERE  STATUS IN (0, 3)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* expireq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* expireq.Verify */
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
SELECT /* expireq.Verify */
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

-- serves Claim: ready rows, which are then sorted; an index in their order would have the finished rows as well, and every claim pass over those
-- blocksq advises the same
CREATE INDEX BLOCKS_READY ON BLOCKS (STATUS, NODE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
