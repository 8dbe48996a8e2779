-- Package waitsq uses the table WAITS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "SINCE" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"; order 1 at column "LAST_AT" takes them by their time, and reads none that wait for theirs
-- note: warning: a job that fails is ready at once where its WAIT_S is 0, and nothing ends that; qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* waitsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   WAITS
        WHERE  (SINCE <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') OR SINCE IS NULL)
        AND    (LAST_AT <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - WAIT_S), 99999999999))), 11, '0') OR LAST_AT IS NULL)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE WAITS
        SET    SINCE = LPAD(TO_CHAR((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')))), 14, '0')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, LAST_AT, SINCE, WAIT_S
        FROM   WAITS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* waitsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM WAITS
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    SINCE IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* waitsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE WAITS
        SET    LAST_AT = LPAD(TO_CHAR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)), 11, '0'),
               SINCE = NULL
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    SINCE IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* waitsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE WAITS
        SET    SINCE = NULL
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    SINCE IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: SINCE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Since, 3: counts
DECLARE /* waitsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE WAITS
        SET    SINCE = LPAD(TO_CHAR((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')))), 14, '0')
        WHERE  ID = ID_HELD(i)
        AND    SINCE = SINCE_HELD(i)
        AND    SINCE IS NOT NULL;
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
SELECT /* waitsq.Extend */
       ID, SINCE
FROM   WAITS
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new LastAt, 2: new WaitS, 3: new_key
INSERT /* waitsq.Enqueue */ INTO WAITS
       (LAST_AT, WAIT_S)
VALUES (:1, coalesce(:2, 60))
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* waitsq.Stats */
       count(CASE WHEN (SINCE <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') OR SINCE IS NULL) AND (LAST_AT <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - WAIT_S), 99999999999))), 11, '0') OR LAST_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN SINCE IS NOT NULL AND SINCE > LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') THEN 1 END) AS RUNNING,
       count(CASE WHEN LAST_AT > LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - WAIT_S), 99999999999))), 11, '0') THEN 1 END) AS DELAYED,
       count(CASE WHEN SINCE IS NOT NULL AND SINCE <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') THEN 1 END) AS EXPIRED,
       ((FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3'))) - TO_NUMBER(min(CASE WHEN SINCE IS NOT NULL AND SINCE > LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') THEN SINCE END))) / 1000 AS OLDEST_RUNNING
FROM   WAITS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* waitsq.Peek */
       *
FROM   (
           SELECT ID, LAST_AT, WAIT_S
           FROM   WAITS
           WHERE  (SINCE <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) * 1000 + TO_NUMBER(TO_CHAR(SYSTIMESTAMP, 'FF3')) - WAIT_S * 1000), 99999999999999))), 14, '0') OR SINCE IS NULL)
           AND    (LAST_AT <= LPAD(TO_CHAR(GREATEST(0, LEAST(FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 - WAIT_S), 99999999999))), 11, '0') OR LAST_AT IS NULL)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* waitsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* waitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'LAST_AT', 'char' FROM DUAL UNION ALL
           SELECT 'SINCE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WAIT_S', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'WAITS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
