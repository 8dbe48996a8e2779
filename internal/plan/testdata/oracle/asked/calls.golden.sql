-- Package callsq uses the table CALLS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
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
-- note: done:=0 is only written, so nothing tells a finished row: there is no Purge of it; done=… tests it as well
-- note: rows are taken as they came, by column "ID"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: param most int, 2: param id int64, 3: limit, 4: cursor
DECLARE /* callsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   CALLS
        WHERE  STATE = 0
        AND    (weight < :1)
        AND    ID = :2
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :3;
    CLOSE candidate;
    OPEN :4 FOR
        SELECT ID
        FROM   CALLS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: given delay time.Duration, 3: given most int
DECLARE /* callsq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        UPDATE CALLS
        SET    STATE = 0,
               RUN_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND'),
               WEIGHT = (weight + :3)
        WHERE  ID = ID_PICKED(i);
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* callsq.Enqueue */ INTO CALLS
       (ID)
VALUES (DEFAULT)
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(*) AS READY
FROM   CALLS
WHERE  STATE = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: param most int, 2: param id int64, 3: limit
SELECT /* callsq.Peek */
       *
FROM   (
           SELECT ID
           FROM   CALLS
           WHERE  STATE = 0
           AND    (weight < :1)
           AND    ID = :2
           ORDER  BY ID
       )
WHERE  ROWNUM <= :3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CALLS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
