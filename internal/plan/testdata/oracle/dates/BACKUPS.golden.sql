-- Package backupsq uses the table BACKUPS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "TILL" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, ID
-- note: the fence compares column "TILL", which counts whole seconds: two claims within one second look alike
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* backupsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   BACKUPS
        WHERE  (TILL <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR TILL = TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS'))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE BACKUPS
        SET    TILL = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + 300 / 86400,
               SEEN = TIMESTAMP '2000-01-02 03:04:05.678'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS')
        FROM   BACKUPS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* backupsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM BACKUPS
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_DATE(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* backupsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM BACKUPS
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_DATE(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* backupsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BACKUPS
        SET    TILL = TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS')
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_DATE(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS');
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* backupsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BACKUPS
        SET    TILL = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + 300 / 86400
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_DATE(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS')
        AND    TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS');
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
SELECT /* backupsq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS')
FROM   BACKUPS
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID
INSERT /* backupsq.Enqueue */ INTO BACKUPS
       (ID, TILL)
VALUES (:1, TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* backupsq.Stats */
       count(CASE WHEN (TILL <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR TILL = TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS')) THEN 1 END) AS READY,
       count(CASE WHEN TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS') AND TILL > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS RUNNING,
       count(CASE WHEN TILL <> TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS') AND TILL <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS EXPIRED
FROM   BACKUPS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* backupsq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS')
           FROM   BACKUPS
           WHERE  (TILL <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR TILL = TO_DATE('9999-12-31 00:00:00', 'YYYY-MM-DD HH24:MI:SS'))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* backupsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* backupsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'TILL', 'date' FROM DUAL UNION ALL
           SELECT 'SEEN', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BACKUPS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
