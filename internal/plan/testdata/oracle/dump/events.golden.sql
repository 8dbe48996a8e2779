-- Package eventsq uses the table APP.EVENTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy hold: nothing is written while a job runs: the row lock is the claim.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EVENTS_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  rows have no key by which a side table could name them
-- * hold         nothing is written while a job runs: the row lock is the claim
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          Oracle 19 cannot return the rows of a DELETE
-- note: rows that are equal in AT are taken in any order: the table has no key

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: ("AT")
-- arguments: 1: held_list RowID, 2: limit, 3: cursor
DECLARE /* eventsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EVENTS EVENTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   APP.EVENTS
        WHERE  1 = 1
AND    NOT (ROWID = CHARTOROWID(:v0))
        ORDER  BY "AT"
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ROWIDTOCHAR(ROWID), TO_CHAR("AT", 'YYYY-MM-DD HH24:MI:SS'), LINE
        FROM   APP.EVENTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch RowID, 2: counts
DECLARE /* eventsq.Complete */
    ROWID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ROWID_HELD.COUNT
        DELETE FROM APP.EVENTS
        WHERE  ROWID = CHARTOROWID(ROWID_HELD(i));
    FOR i IN 1 .. ROWID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new At, 2: new Line
INSERT /* eventsq.Enqueue */ INTO APP.EVENTS
       ("AT", LINE)
VALUES (TO_DATE(:1, 'YYYY-MM-DD HH24:MI:SS'), :2);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* eventsq.Stats */
       count(*) AS READY
FROM   APP.EVENTS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ("AT")
-- arguments: 1: limit
SELECT /* eventsq.Peek */
       *
FROM   (
           SELECT ROWIDTOCHAR(ROWID), TO_CHAR("AT", 'YYYY-MM-DD HH24:MI:SS'), LINE
           FROM   APP.EVENTS
           ORDER  BY "AT"
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
           SELECT 'AT' AS name, 'date' AS type FROM DUAL UNION ALL
           SELECT 'LINE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = 'APP'
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
           SELECT 'EVENTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = 'APP'
           AND    have.table_name = 'EVENTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX EVENTS_READY ON APP.EVENTS ("AT") ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
