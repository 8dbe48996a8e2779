-- Package textsq uses the table TEXTS as a queue of jobs on Oracle 19 and later.
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
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "RUN_AT"
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"; order 1 at column "RUN_AT" takes them by their time, and reads none that wait for theirs
-- note: the fence is the count in column "TRIES" alone, which repeats after Requeue: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* textsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   TEXTS
        WHERE  RUN_AT <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"')
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE TEXTS
        SET    RUN_AT = TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND'), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"'),
               TRIES = TRIES + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, RUN_AT, TRIES
        FROM   TEXTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* textsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM TEXTS
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* textsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TEXTS
        SET    RUN_AT = TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP) + CAST((INTERVAL '10' SECOND * TRIES) AS INTERVAL DAY TO SECOND), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"')
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: delay, 4: counts
DECLARE /* textsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TEXTS
        SET    RUN_AT = TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:3, 'SECOND'), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"'),
               TRIES = TRIES - 1
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i);
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TRIES as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: counts
DECLARE /* textsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE TEXTS
        SET    RUN_AT = TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(300, 'SECOND'), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"')
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i);
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
SELECT /* textsq.Extend */
       ID, RUN_AT
FROM   TEXTS
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new_key
INSERT /* textsq.Enqueue */ INTO TEXTS
       (RUN_AT)
VALUES (coalesce(:1, TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"')))
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* textsq.Stats */
       count(CASE WHEN RUN_AT <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') THEN 1 END) AS RUNNING,
       count(CASE WHEN RUN_AT > TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') THEN 1 END) AS DELAYED,
       (CAST(TO_TIMESTAMP(TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"'), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') AS DATE) - CAST(TO_TIMESTAMP(min(CASE WHEN RUN_AT <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') THEN RUN_AT END), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"') AS DATE)) * 86400 AS OLDEST_READY
FROM   TEXTS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* textsq.Peek */
       *
FROM   (
           SELECT ID, RUN_AT, TRIES
           FROM   TEXTS
           WHERE  RUN_AT <= TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), 'YYYY-MM-DD"T"HH24:MI:SS.FF3"Z"')
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* textsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* textsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TEXTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
