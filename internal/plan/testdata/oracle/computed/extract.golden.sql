-- Package extractq uses the table DOCUMENT as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> failed
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
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
-- note: failed:=T is only written, so nothing tells a failed row: there is no Redrive and no Purge of it; failed=… tests it as well
-- note: no order is said: rows are taken in the order of the key, UUID
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: DOCUMENT_PENDING ((CASE WHEN extracted = 'F' THEN uuid END)); the ready rows are then sorted
-- arguments: 1: held_list UUID, 2: limit, 3: cursor
DECLARE /* extractq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(DOCUMENT DOCUMENT_PENDING) */ ROWIDTOCHAR(ROWID)
        FROM   DOCUMENT
        WHERE  (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL)
AND    NOT (UUID = :v0)
        ORDER  BY UUID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT UUID
        FROM   DOCUMENT
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch UUID, 2: parts Text, 3: part_of Text, 4: counts
DECLARE /* extractq.Complete */
    UUID_HELD DBMS_SQL.VARCHAR2A := :1;
    TEXT_PART DBMS_SQL.VARCHAR2A := :2;
    TEXT_OF DBMS_SQL.NUMBER_TABLE := :3;
    TEXT_HELD DBMS_SQL.CLOB_TABLE;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FOR i IN 1 .. TEXT_PART.COUNT LOOP
        IF TEXT_HELD.EXISTS(TEXT_OF(i)) THEN
            DBMS_LOB.APPEND(TEXT_HELD(TEXT_OF(i)), TO_CLOB(TEXT_PART(i)));
        ELSE
            TEXT_HELD(TEXT_OF(i)) := TO_CLOB(TEXT_PART(i));
        END IF;
    END LOOP;
    FORALL i IN 1 .. UUID_HELD.COUNT
        UPDATE DOCUMENT
        SET    TEXT = TEXT_HELD(i),
               EXTRACTED = 'T'
        WHERE  UUID = UUID_HELD(i)
        AND    (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL);
    FOR i IN 1 .. UUID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch UUID, 2: counts
DECLARE /* extractq.Fail */
    UUID_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. UUID_HELD.COUNT
        UPDATE DOCUMENT
        SET    EXTRACTED = 'T'
        WHERE  UUID = UUID_HELD(i)
        AND    (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL);
    FOR i IN 1 .. UUID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new UUID
INSERT /* extractq.Enqueue */ INTO DOCUMENT
       (UUID, EXTRACTED)
VALUES (:1, 'F');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* extractq.Stats */
       count(CASE WHEN (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL) THEN 1 END) AS READY,
       count(CASE WHEN EXTRACTED = 'T' THEN 1 END) AS DONE
FROM   DOCUMENT;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* extractq.Backlog */
       count(*) AS READY
FROM   DOCUMENT
WHERE  (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: DOCUMENT_PENDING ((CASE WHEN extracted = 'F' THEN uuid END)); the ready rows are then sorted
-- arguments: 1: limit
SELECT /* extractq.Peek */
       *
FROM   (
           SELECT UUID
           FROM   DOCUMENT
           WHERE  (CASE WHEN extracted = 'F' THEN uuid END IS NOT NULL)
           ORDER  BY UUID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* extractq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* extractq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'UUID' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'TEXT', 'clob' FROM DUAL UNION ALL
           SELECT 'EXTRACTED', 'char' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'DOCUMENT'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* extractq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'DOCUMENT_PENDING' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'DOCUMENT'
           AND    have.index_name = want.name);

-- serves Claim: ready rows, which are then sorted: DOCUMENT_PENDING serves already
