-- Package itemsq uses the table ITEMS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
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
-- note: column "EXPIRES" may be null: a row that runs by its status and has no time there is never claimed again; free=null takes it at once
-- note: rows are taken as they came, by column "ID"; order 1 at column "DUE_AT" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: token Mark, 3: cursor
DECLARE /* itemsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   ITEMS
        WHERE  AVAILABLE IN (1, 0)
        AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
        AND    REMAINING > 0
        AND    (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE ITEMS
        SET    AVAILABLE = 0,
               EXPIRES = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               REMAINING = REMAINING - 1,
               MARK = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TO_CHAR(EXPIRES, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), REMAINING, MARK
        FROM   ITEMS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* itemsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM ITEMS
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    AVAILABLE = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: delay, 4: counts
DECLARE /* itemsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ITEMS
        SET    AVAILABLE = 1,
               EXPIRES = NULL,
               DUE_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    AVAILABLE = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* itemsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ITEMS
        SET    AVAILABLE = 1,
               EXPIRES = NULL,
               REMAINING = 0,
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    AVAILABLE = 0;
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
-- arguments: 1: batch ID, 2: batch Mark, 3: delay, 4: counts
DECLARE /* itemsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ITEMS
        SET    AVAILABLE = 1,
               EXPIRES = NULL,
               DUE_AT = CASE WHEN :3 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND') ELSE DUE_AT END,
               REMAINING = REMAINING + 1,
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    AVAILABLE = 0;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* itemsq.Extend */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ITEMS
        SET    EXPIRES = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    AVAILABLE = 0;
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
SELECT /* itemsq.Extend */
       ID, TO_CHAR(EXPIRES, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   ITEMS
WHERE  (ID = :v0);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* itemsq.Redrive */ ITEMS
SET    AVAILABLE = 1,
       EXPIRES = NULL,
       REMAINING = 5,
       MARK = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   ITEMS
           WHERE  AVAILABLE IN (1, 0)
           AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
           AND    REMAINING <= 0
           AND    ROWNUM <= :1)
AND    AVAILABLE IN (1, 0)
AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
AND    REMAINING <= 0;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
DELETE /* itemsq.Purge */ FROM ITEMS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   ITEMS
           WHERE  AVAILABLE IN (1, 0)
           AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
           AND    REMAINING <= 0
           AND    ROWNUM <= :1)
AND    AVAILABLE IN (1, 0)
AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
AND    REMAINING <= 0;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new DueAt, 2: new_key
INSERT /* itemsq.Enqueue */ INTO ITEMS
       (DUE_AT)
VALUES (TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'))
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Stats */
       count(CASE WHEN AVAILABLE IN (1, 0) AND (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1) AND REMAINING > 0 AND (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN AVAILABLE = 0 AND EXPIRES > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN AVAILABLE IN (1, 0) AND (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1) AND REMAINING <= 0 THEN 1 END) AS FAILED,
       count(CASE WHEN AVAILABLE IN (1, 0) AND REMAINING > 0 AND DUE_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       count(CASE WHEN AVAILABLE = 0 AND EXPIRES <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN AVAILABLE IN (1, 0) AND (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1) AND REMAINING > 0 AND (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL) THEN DUE_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   ITEMS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: none; it reads the whole table
SELECT /* itemsq.Backlog */
       count(CASE WHEN (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1) AND (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN DUE_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1) AND (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL) THEN DUE_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   ITEMS
WHERE  AVAILABLE IN (1, 0)
AND    REMAINING > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* itemsq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(DUE_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), REMAINING
           FROM   ITEMS
           WHERE  AVAILABLE IN (1, 0)
           AND    (EXPIRES <= SYSTIMESTAMP OR AVAILABLE = 1)
           AND    REMAINING > 0
           AND    (DUE_AT <= SYSTIMESTAMP OR DUE_AT IS NULL)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* itemsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* itemsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'AVAILABLE', 'number' FROM DUAL UNION ALL
           SELECT 'EXPIRES', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'DUE_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'REMAINING', 'number' FROM DUAL UNION ALL
           SELECT 'MARK', 'raw' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ITEMS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
