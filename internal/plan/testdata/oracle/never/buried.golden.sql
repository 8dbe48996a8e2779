-- Package buriedq uses the table BURIED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Bury------------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: column "AT" is due and lease, so a claim hides the row by moving its due time
-- note: a row that waits for its time looks like one that runs: both are hidden by column "AT"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the fence compares column "AT", which counts whole seconds: two claims within one second look alike
-- note: rows that are alike in column "AT" are taken as the index BURIED_AT has them: in the order of the key as well, Oracle would sort all ready rows for each claim

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: BURIED_AT ("AT")
-- arguments: 1: limit, 2: worker Worker, 3: cursor
DECLARE /* buriedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BURIED BURIED_AT) */ ROWIDTOCHAR(ROWID)
        FROM   BURIED
        WHERE  "AT" <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        AND    "AT" <> 2147483647
        ORDER  BY "AT"
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE BURIED
        SET    "AT" = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + 1000),
               WORKER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, "AT", WORKER, TRIES
        FROM   BURIED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: AT, WORKER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker, 4: counts
DECLARE /* buriedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    WORKER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM BURIED
        WHERE  ID = ID_HELD(i)
        AND    "AT" = AT_HELD(i)
        AND    WORKER = WORKER_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: AT, WORKER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker, 4: delay, 5: counts
DECLARE /* buriedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    WORKER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BURIED
        SET    "AT" = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + :4),
               WORKER = NULL,
               TRIES = TRIES + 1
        WHERE  ID = ID_HELD(i)
        AND    "AT" = AT_HELD(i)
        AND    WORKER = WORKER_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: AT, WORKER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker, 4: delay, 5: counts
DECLARE /* buriedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    WORKER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BURIED
        SET    "AT" = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + :4),
               WORKER = NULL
        WHERE  ID = ID_HELD(i)
        AND    "AT" = AT_HELD(i)
        AND    WORKER = WORKER_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: AT, WORKER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker, 4: counts
DECLARE /* buriedq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    WORKER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BURIED
        SET    "AT" = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5 + 1000)
        WHERE  ID = ID_HELD(i)
        AND    "AT" = AT_HELD(i)
        AND    WORKER = WORKER_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* buriedq.Extend */
       ID, "AT"
FROM   BURIED
WHERE  (ID = :v0);

-- sql/outcome_bury.sql
-- outcome_bury: running to ready
-- fence: AT, WORKER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch At, 3: batch Worker, 4: counts
DECLARE /* buriedq.Bury */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    WORKER_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BURIED
        SET    "AT" = 2147483647,
               WORKER = NULL
        WHERE  ID = ID_HELD(i)
        AND    "AT" = AT_HELD(i)
        AND    WORKER = WORKER_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new At, 2: new_key
INSERT /* buriedq.Enqueue */ INTO BURIED
       ("AT")
VALUES (coalesce(:1, FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)))
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buriedq.Stats */
       count(CASE WHEN "AT" <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS READY,
       count(CASE WHEN "AT" > FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS RUNNING,
       count(CASE WHEN "AT" > FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN 1 END) AS DELAYED,
       FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) - min(CASE WHEN "AT" <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5) THEN "AT" END) AS OLDEST_READY
FROM   BURIED
WHERE  "AT" <> 2147483647;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: BURIED_AT ("AT")
-- arguments: 1: limit
SELECT /* buriedq.Peek */
       *
FROM   (
           SELECT ID, "AT", TRIES
           FROM   BURIED
           WHERE  "AT" <= FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
           AND    "AT" <> 2147483647
           ORDER  BY "AT"
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buriedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buriedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'AT', 'number' FROM DUAL UNION ALL
           SELECT 'WORKER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BURIED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buriedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'BURIED_AT' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'BURIED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: BURIED_AT serves already
