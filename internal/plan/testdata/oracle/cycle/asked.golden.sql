-- Package askedq uses the table ASKED as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> ready, due again
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- A job never ends: Complete makes it ready again, due when the caller says with each. Who wants one to end deletes its row.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates ASKED_READY.
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
-- note: Purge leaves rows that failed: the jobs of a cycle stay, and Redrive makes them ready again
-- note: rows are taken as they came, by column "ID"; order 1 at column "RUN_AT" takes them by their time, and reads none that wait for theirs
-- note: the count in column "TRIES" begins anew with every round of a job, so it is no fence; qgen:token or qgen:version is one
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* askedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(ASKED ASKED_READY) */ ROWIDTOCHAR(ROWID)
        FROM   ASKED
        WHERE  STATE = 'N'
        AND    RUN_AT <= SYSTIMESTAMP
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE ASKED
        SET    STATE = 'A',
               TRIES = TRIES + 1,
               HOLDER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES, HOLDER
        FROM   ASKED
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to ready, due when its next time comes
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: batch Answer, 4: batch Next, 5: counts
DECLARE /* askedq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    ANSWER_HELD DBMS_SQL.VARCHAR2A := :3;
    RUN_AT_HELD DBMS_SQL.VARCHAR2A := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ASKED
        SET    STATE = 'N',
               RUN_AT = TO_TIMESTAMP_TZ(RUN_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TRIES = 0,
               HOLDER = NULL,
               ANSWER = ANSWER_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: delay, 4: counts
DECLARE /* askedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ASKED
        SET    STATE = 'N',
               RUN_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: counts
DECLARE /* askedq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ASKED
        SET    STATE = 'E'
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Holder, 3: delay, 4: counts
DECLARE /* askedq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE ASKED
        SET    STATE = 'N',
               RUN_AT = CASE WHEN :3 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND') ELSE RUN_AT END,
               TRIES = TRIES - 1,
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'A';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
UPDATE /* askedq.Redrive */ ASKED
SET    STATE = 'N',
       TRIES = 0,
       HOLDER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   ASKED
           WHERE  STATE = 'E'
           AND    ROWNUM <= :1)
AND    STATE = 'E';

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new RunAt, 2: new_key
INSERT /* askedq.Enqueue */ INTO ASKED
       (RUN_AT)
VALUES (coalesce(TO_TIMESTAMP_TZ(:1, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), SYSTIMESTAMP))
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* askedq.Stats */
       count(CASE WHEN STATE = 'N' AND RUN_AT <= SYSTIMESTAMP THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND RUN_AT <= SYSTIMESTAMP THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   ASKED;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID, RUN_AT)
SELECT /* askedq.Backlog */
       count(CASE WHEN RUN_AT <= SYSTIMESTAMP THEN 1 END) AS READY,
       count(CASE WHEN RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN RUN_AT <= SYSTIMESTAMP THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   ASKED
WHERE  STATE = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID, RUN_AT)
-- arguments: 1: limit
SELECT /* askedq.Peek */
       *
FROM   (
           SELECT ID, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), TRIES
           FROM   ASKED
           WHERE  STATE = 'N'
           AND    RUN_AT <= SYSTIMESTAMP
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* askedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* askedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'ANSWER', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ASKED'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* askedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'ASKED_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'ASKED'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX ASKED_READY ON ASKED (STATE, ID, RUN_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
