-- Package marksq uses the table MARKS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- Besides the queue's own rows it writes TOTALS (Enqueue), each in the transaction of the operation.
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
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* marksq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MARKS
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID, ADDRESS
        FROM   MARKS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* marksq.Claim */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_PICKED raws := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        DELETE FROM MARKS
        WHERE  ID = ID_PICKED(i);
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Address
INSERT /* marksq.Enqueue */ INTO MARKS
       (ID, ADDRESS)
VALUES (:1, :2);

-- sql/enqueue_find.sql
-- enqueue: finds the new rows by the keys that they were given, which a column may round or fill up
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* marksq.Enqueue */
       ID
FROM   MARKS
WHERE  (ID = :v0);

-- sql/enqueue_insert_totals.sql
-- enqueue: inserts rows into TOTALS for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list ID
INSERT /* marksq.Enqueue */ INTO TOTALS
       (ADDRESS)
SELECT held.ADDRESS
FROM   MARKS held
WHERE  (held.ID = :v0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* marksq.Stats */
       count(*) AS READY
FROM   MARKS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* marksq.Peek */
       *
FROM   (
           SELECT ID, ADDRESS
           FROM   MARKS
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* marksq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* marksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'raw' AS type FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MARKS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of TOTALS
-- locks: none
SELECT /* marksq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ADDRESS' AS name, 'varchar2' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TOTALS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
