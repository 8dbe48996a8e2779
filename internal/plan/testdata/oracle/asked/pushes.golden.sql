-- Package pushesq uses the table PUSHES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PUSHES_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, NAME; order 1 at column "RUN_AT" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: enqueue=update changes the row that is like a new job in NAME (primary key): RUN_AT = ({new}.RUN_AT), PAUSE = ({new}.PAUSE), LAST = ({new}.LAST)
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, NAME, RUN_AT)
-- arguments: 1: limit, 2: cursor
DECLARE /* pushesq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PUSHES PUSHES_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PUSHES
        WHERE  STATE = 0
        AND    (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL)
        ORDER  BY NAME
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PUSHES
        SET    STATE = 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT NAME, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), PAUSE
        FROM   PUSHES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Name, 2: counts
DECLARE /* pushesq.Complete */
    NAME_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. NAME_HELD.COUNT
        DELETE FROM PUSHES
        WHERE  NAME = NAME_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. NAME_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :2 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Name, 2: delay, 3: counts
DECLARE /* pushesq.Fail */
    NAME_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. NAME_HELD.COUNT
        UPDATE PUSHES
        SET    STATE = 0,
               RUN_AT = SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND')
        WHERE  NAME = NAME_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. NAME_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Name, 2: delay, 3: counts
DECLARE /* pushesq.Requeue */
    NAME_HELD DBMS_SQL.VARCHAR2A := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. NAME_HELD.COUNT
        UPDATE PUSHES
        SET    STATE = 0,
               RUN_AT = CASE WHEN :2 > 0.0 THEN SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND') ELSE RUN_AT END
        WHERE  NAME = NAME_HELD(i)
        AND    STATE = 1;
    FOR i IN 1 .. NAME_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/enqueue_lock.sql
-- enqueue: finds the row that is like the job in NAME (primary key)
-- locks: the row, until commit; waits for who has it locked
-- index: NAME
-- arguments: 1: new Name
SELECT /* pushesq.Enqueue */
       NAME
FROM   PUSHES
WHERE  NAME = :1
FOR    UPDATE;

-- sql/enqueue_update.sql
-- enqueue: changes the row that enqueue_lock.sql found
-- locks: the row, until commit
-- index: NAME
-- arguments: 1: new Pause, 2: new Pause, 3: new Delay, 4: new Name
UPDATE /* pushesq.Enqueue */ PUSHES
SET    RUN_AT = ((SYSTIMESTAMP + NUMTODSINTERVAL(:1, 'SECOND'))),
       PAUSE = (:2),
       LAST = (SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'))
WHERE  NAME = :4;

-- sql/enqueue.sql
-- enqueue: a new ready row, where enqueue_lock.sql finds none that is like the job
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new Name, 2: new Pause, 3: new Pause, 4: new Delay
INSERT /* pushesq.Enqueue */ INTO PUSHES
       (NAME, RUN_AT, PAUSE, LAST)
VALUES (:1, (SYSTIMESTAMP + NUMTODSINTERVAL(:2, 'SECOND')), :3,
        SYSTIMESTAMP + NUMTODSINTERVAL(:4, 'SECOND'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pushesq.Stats */
       count(CASE WHEN STATE = 0 AND (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 1 THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 0 AND RUN_AT > SYSTIMESTAMP THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 0 AND (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL) THEN RUN_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   PUSHES;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, NAME, RUN_AT)
-- arguments: 1: limit
SELECT /* pushesq.Peek */
       *
FROM   (
           SELECT NAME, TO_CHAR(RUN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), PAUSE
           FROM   PUSHES
           WHERE  STATE = 0
           AND    (RUN_AT <= SYSTIMESTAMP OR RUN_AT IS NULL)
           ORDER  BY NAME
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pushesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pushesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'NAME' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'number' FROM DUAL UNION ALL
           SELECT 'RUN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'PAUSE', 'number' FROM DUAL UNION ALL
           SELECT 'LAST', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PUSHES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pushesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PUSHES_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PUSHES'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are passed over in it
CREATE INDEX PUSHES_READY ON PUSHES (STATE, NAME, RUN_AT) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
