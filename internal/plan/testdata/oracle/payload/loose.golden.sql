-- Package looseq uses the table LOOSE as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates LOOSE_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: there is no primary key and no unique key without nulls, so a row is named by its physical place, which is good inside one transaction only
-- note: nothing in the DDL of HEADS tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken in any order: nothing orders them

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (DONE)
-- arguments: 1: held_list RowID, 2: limit, 3: cursor
DECLARE /* looseq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   LOOSE
        WHERE  DONE = 0
AND    NOT (ROWID = CHARTOROWID(:v0))
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ROWIDTOCHAR(ROWID), BODY_ID
        FROM   LOOSE
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/payload.sql
-- payload: what claimed jobs have in HEADS
-- locks: none
-- index: the key
-- arguments: 1: list RowID
SELECT /* looseq.Payload */
       ROWIDTOCHAR(LOOSE.ROWID), HEADS.SUBJECT
FROM   LOOSE
       LEFT JOIN HEADS
       ON  (heads.body_id = LOOSE.body_id)
WHERE  (LOOSE.ROWID = CHARTOROWID(:v0));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch RowID, 2: counts
DECLARE /* looseq.Complete */
    ROWID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ROWID_HELD.COUNT
        UPDATE LOOSE
        SET    DONE = 1
        WHERE  ROWID = CHARTOROWID(ROWID_HELD(i))
        AND    DONE = 0;
    FOR i IN 1 .. ROWID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (DONE)
-- arguments: 1: limit
DELETE /* looseq.Purge */ FROM LOOSE
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LOOSE
           WHERE  DONE = 1
           AND    ROWNUM <= :1)
AND    DONE = 1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new BodyID
INSERT /* looseq.Enqueue */ INTO LOOSE
       (BODY_ID, DONE)
VALUES (:1, 0);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* looseq.Stats */
       count(CASE WHEN DONE = 0 THEN 1 END) AS READY,
       count(CASE WHEN DONE = 1 THEN 1 END) AS DONE
FROM   LOOSE;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (DONE)
SELECT /* looseq.Backlog */
       count(*) AS READY
FROM   LOOSE
WHERE  DONE = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (DONE)
-- arguments: 1: limit
SELECT /* looseq.Peek */
       *
FROM   (
           SELECT ROWIDTOCHAR(ROWID), BODY_ID
           FROM   LOOSE
           WHERE  DONE = 0
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* looseq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* looseq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'BODY_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'DONE', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'LOOSE'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of HEADS
-- locks: none
SELECT /* looseq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SUBJECT' AS name, 'clob' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'HEADS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* looseq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'LOOSE_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'LOOSE'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX LOOSE_READY ON LOOSE (DONE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
