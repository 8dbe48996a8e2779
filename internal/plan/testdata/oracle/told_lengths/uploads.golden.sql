-- Package uploadsq uses the table UPLOADS as a queue of jobs on Oracle 19 and later.
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
-- note: a row whose claim has run out is claimed again, since nothing but column "UNTIL_AT" says which rows run (expired=claim)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: warning: a row whose SIZE_MB is null is not claimed: nothing would say when its claim ends
-- note: rows are taken as they came, by column "ID"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* uploadsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   UPLOADS
        WHERE  (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL)
        AND    ((size_mb * 2 + 1) is not null)
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE UPLOADS
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(((size_mb * 2 + 1) * 60), 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, SIZE_MB, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   UPLOADS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* uploadsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM UPLOADS
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* uploadsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* uploadsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    UNTIL_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: UNTIL_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch UntilAt, 3: counts
DECLARE /* uploadsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    UNTIL_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE UPLOADS
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(((size_mb * 2 + 1) * 60), 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    UNTIL_AT = TO_TIMESTAMP_TZ(UNTIL_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    UNTIL_AT IS NOT NULL;
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
SELECT /* uploadsq.Extend */
       ID, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   UPLOADS
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new SizeMb, 2: new_key
INSERT /* uploadsq.Enqueue */ INTO UPLOADS
       (SIZE_MB)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* uploadsq.Stats */
       count(CASE WHEN (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL) AND ((size_mb * 2 + 1) is not null) THEN 1 END) AS READY,
       count(CASE WHEN UNTIL_AT IS NOT NULL AND UNTIL_AT > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN UNTIL_AT IS NOT NULL AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   UPLOADS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* uploadsq.Peek */
       *
FROM   (
           SELECT ID, SIZE_MB
           FROM   UPLOADS
           WHERE  (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL)
           AND    ((size_mb * 2 + 1) is not null)
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* uploadsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* uploadsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'SIZE_MB', 'number' FROM DUAL UNION ALL
           SELECT 'UNTIL_AT', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'UPLOADS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
