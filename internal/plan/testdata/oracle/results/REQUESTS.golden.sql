-- Package requestsq uses the table REQUESTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates REQUESTS_READY.
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
-- note: rows are taken as they came, by column "ID"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit, 2: token Mark, 3: cursor
DECLARE /* requestsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(REQUESTS REQUESTS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   REQUESTS
        WHERE  STATUS = 'QUEUED'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'RUNNING',
               MARK = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, MARK, DATA, PROBLEM
        FROM   REQUESTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: parts Answer, 4: part_of Answer, 5: parts Report, 6: part_of Report, 7: parts Details, 8: part_of Details, 9: counts
DECLARE /* requestsq.Complete */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    ANSWER_PART raws := :3;
    ANSWER_OF DBMS_SQL.NUMBER_TABLE := :4;
    REPORT_PART DBMS_SQL.VARCHAR2A := :5;
    REPORT_OF DBMS_SQL.NUMBER_TABLE := :6;
    DETAILS_PART DBMS_SQL.VARCHAR2A := :7;
    DETAILS_OF DBMS_SQL.NUMBER_TABLE := :8;
    ANSWER_HELD DBMS_SQL.BLOB_TABLE;
    REPORT_HELD DBMS_SQL.CLOB_TABLE;
    DETAILS_HELD DBMS_SQL.CLOB_TABLE;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FOR i IN 1 .. ANSWER_PART.COUNT LOOP
        IF ANSWER_HELD.EXISTS(ANSWER_OF(i)) THEN
            DBMS_LOB.APPEND(ANSWER_HELD(ANSWER_OF(i)), TO_BLOB(ANSWER_PART(i)));
        ELSE
            ANSWER_HELD(ANSWER_OF(i)) := TO_BLOB(ANSWER_PART(i));
        END IF;
    END LOOP;
    FOR i IN 1 .. REPORT_PART.COUNT LOOP
        IF REPORT_HELD.EXISTS(REPORT_OF(i)) THEN
            DBMS_LOB.APPEND(REPORT_HELD(REPORT_OF(i)), TO_CLOB(REPORT_PART(i)));
        ELSE
            REPORT_HELD(REPORT_OF(i)) := TO_CLOB(REPORT_PART(i));
        END IF;
    END LOOP;
    FOR i IN 1 .. DETAILS_PART.COUNT LOOP
        IF DETAILS_HELD.EXISTS(DETAILS_OF(i)) THEN
            DBMS_LOB.APPEND(DETAILS_HELD(DETAILS_OF(i)), TO_CLOB(DETAILS_PART(i)));
        ELSE
            DETAILS_HELD(DETAILS_OF(i)) := TO_CLOB(DETAILS_PART(i));
        END IF;
    END LOOP;
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'DONE',
               ANSWER = ANSWER_HELD(i),
               REPORT = REPORT_HELD(i),
               DETAILS = DETAILS_HELD(i)
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :9 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: error, 4: counts
DECLARE /* requestsq.Fail */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'ERROR',
               PROBLEM = UTL_RAW.CAST_TO_RAW(:3)
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: MARK as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Mark, 3: counts
DECLARE /* requestsq.Requeue */
    TYPE raws IS TABLE OF RAW(32767) INDEX BY BINARY_INTEGER;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MARK_HELD raws := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE REQUESTS
        SET    STATUS = 'QUEUED',
               MARK = NULL
        WHERE  ID = ID_HELD(i)
        AND    MARK = MARK_HELD(i)
        AND    STATUS = 'RUNNING';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
UPDATE /* requestsq.Redrive */ REQUESTS
SET    STATUS = 'QUEUED',
       MARK = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'ERROR'
           AND    ROWNUM <= :1)
AND    STATUS = 'ERROR';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* requestsq.Purge */ FROM REQUESTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'DONE'
           AND    ROWNUM <= :1)
AND    STATUS = 'DONE';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit
DELETE /* requestsq.Purge */ FROM REQUESTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   REQUESTS
           WHERE  STATUS = 'ERROR'
           AND    ROWNUM <= :1)
AND    STATUS = 'ERROR';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Data, 2: new_key
INSERT /* requestsq.Enqueue */ INTO REQUESTS
       (DATA)
VALUES (:1)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* requestsq.Stats */
       count(CASE WHEN STATUS = 'QUEUED' THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'RUNNING' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'DONE' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'ERROR' THEN 1 END) AS FAILED
FROM   REQUESTS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATUS, ID)
SELECT /* requestsq.Backlog */
       count(*) AS READY
FROM   REQUESTS
WHERE  STATUS = 'QUEUED';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* requestsq.Peek */
       *
FROM   (
           SELECT ID, DATA, PROBLEM
           FROM   REQUESTS
           WHERE  STATUS = 'QUEUED'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* requestsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* requestsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'MARK', 'raw' FROM DUAL UNION ALL
           SELECT 'DATA', 'blob' FROM DUAL UNION ALL
           SELECT 'ANSWER', 'blob' FROM DUAL UNION ALL
           SELECT 'REPORT', 'nclob' FROM DUAL UNION ALL
           SELECT 'DETAILS', 'clob' FROM DUAL UNION ALL
           SELECT 'PROBLEM', 'blob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'REQUESTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* requestsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'REQUESTS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'REQUESTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX REQUESTS_READY ON REQUESTS (STATUS, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
