-- Package lettersq uses the table LETTERS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes TOTALS (Enqueue, Claim, Complete, Fail, Requeue); WORKERS (Complete); TRIES (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates LETTERS_READY.
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
-- note: tries are counted in column "TRIES" when they begin (on=claim)
-- note: warning: also: fail makes column "QUEUED" of TOTALS from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "ID"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit, 2: worker Holder, 3: cursor
DECLARE /* lettersq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(LETTERS LETTERS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   LETTERS
        WHERE  STATE = 'new'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE LETTERS
        SET    STATE = 'busy',
               TRIES = TRIES + 1,
               HOLDER = :2
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, ADDRESS, WEIGHT, TRIES, HOLDER
        FROM   LETTERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim_update_totals.sql
-- claim: updates rows of TOTALS for the rows that were taken; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS, KIND
-- arguments: 1: list ID, 2: list ID
UPDATE /* lettersq.Claim */ TOTALS
SET    (QUEUED, TAKEN_AT) = (
           SELECT (totals.queued - shared.JOBS), SYSTIMESTAMP
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             count(*) AS JOBS
                      FROM   LETTERS held
                      WHERE  (held.ID = :v0)
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  (held.ID = :v0))
AND    TOTALS.KIND = 'letter';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Complete */
       ID
FROM   LETTERS
WHERE  ((ID = :v0 AND TRIES = :v0 AND HOLDER = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/complete_update_totals.sql
-- complete: updates rows of TOTALS for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Complete */ TOTALS
SET    (WEIGHT, QUEUED) = (
           SELECT (totals.weight - shared.SUM_WEIGHT), (totals.queued + 0 * shared.JOBS)
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             sum(held.weight) AS SUM_WEIGHT,
                             count(*) AS JOBS
                      FROM   LETTERS held
                      WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/complete_update_totals_2.sql
-- complete: updates rows of TOTALS for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Complete */ TOTALS
SET    (LAST_ID) = (
           SELECT held.ID
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
           AND    TOTALS.ADDRESS = held.ADDRESS
           AND    ROWNUM = 1)
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/complete_update_workers.sql
-- complete: updates rows of WORKERS for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of WORKERS one that begins with NAME
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Complete */ WORKERS
SET    (DONE) = (
           SELECT (done + 2 * shared.JOBS)
           FROM   (
                      SELECT held.HOLDER AS OF_NAME,
                             count(*) AS JOBS
                      FROM   LETTERS held
                      WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
                      GROUP  BY held.HOLDER
                  ) shared
           WHERE  WORKERS.NAME = shared.OF_NAME
       )
WHERE  (NAME) IN (
           SELECT held.HOLDER
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/complete.sql
-- complete: running to done
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
DECLARE /* lettersq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'sent'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Fail */
       ID
FROM   LETTERS
WHERE  ((ID = :v0 AND TRIES = :v0 AND HOLDER = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/retry_update_totals.sql
-- retry: updates rows of TOTALS for the rows that retry_lock.sql locked, before retry.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Fail */ TOTALS
SET    (QUEUED, WEIGHT) = (
           SELECT (totals.queued + shared.JOBS), (coalesce(totals.weight, 0) + shared.SUM_WEIGHT)
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             count(*) AS JOBS,
                             sum(-held.weight + 1) AS SUM_WEIGHT
                      FROM   LETTERS held
                      WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/retry_update_tries.sql
-- retry: updates rows of TRIES for the rows that retry_lock.sql locked, before retry.sql
-- locks: the rows it writes, until commit
-- index: the key; of TRIES one that begins with LETTER_ID
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Fail */ TRIES
SET    (N) = (
           SELECT (n + 1)
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
           AND    TRIES.LETTER_ID = held.ID
           AND    ROWNUM = 1)
WHERE  (LETTER_ID) IN (
           SELECT held.ID
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
DECLARE /* lettersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'new',
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Fail */
       ID
FROM   LETTERS
WHERE  ((ID = :v0 AND TRIES = :v0 AND HOLDER = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/fail_update_totals.sql
-- fail: updates rows of TOTALS for the rows that fail_lock.sql locked, before fail.sql
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Fail */ TOTALS
SET    (QUEUED) = (
           SELECT ((totals.queued + 1) * 2)
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
           AND    TOTALS.ADDRESS = held.ADDRESS
           AND    ROWNUM = 1)
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/fail.sql
-- fail: running to failed
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
DECLARE /* lettersq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'lost'
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID Tries Holder
SELECT /* lettersq.Requeue */
       ID
FROM   LETTERS
WHERE  ((ID = :v0 AND TRIES = :v0 AND HOLDER = :v0))
AND    STATE = 'busy'
FOR    UPDATE;

-- sql/requeue_update_totals.sql
-- requeue: updates rows of TOTALS for the rows that requeue_lock.sql locked, before requeue.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID Tries Holder, 2: list ID Tries Holder
UPDATE /* lettersq.Requeue */ TOTALS
SET    (QUEUED) = (
           SELECT (totals.queued + shared.JOBS)
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             count(*) AS JOBS
                      FROM   LETTERS held
                      WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0))
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  ((held.ID = :v0 AND held.TRIES = :v0 AND held.HOLDER = :v0)));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TRIES, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
DECLARE /* lettersq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TRIES_HELD DBMS_SQL.NUMBER_TABLE := :2;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :3;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE LETTERS
        SET    STATE = 'new',
               TRIES = TRIES - 1,
               HOLDER = NULL
        WHERE  ID = ID_HELD(i)
        AND    TRIES = TRIES_HELD(i)
        AND    HOLDER = HOLDER_HELD(i)
        AND    STATE = 'busy';
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ LETTERS
SET    STATE = 'new',
       TRIES = 0,
       HOLDER = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  STATE = 'lost'
           AND    ROWNUM <= :1)
AND    STATE = 'lost';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM LETTERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  STATE = 'sent'
           AND    ROWNUM <= :1)
AND    STATE = 'sent';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ID)
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM LETTERS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   LETTERS
           WHERE  STATE = 'lost'
           AND    ROWNUM <= :1)
AND    STATE = 'lost';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new Weight, 3: new_key
INSERT /* lettersq.Enqueue */ INTO LETTERS
       (ADDRESS, WEIGHT)
VALUES (:1, :2)
/* the new key */ RETURNING ID INTO :3;

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of TOTALS for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of TOTALS one that begins with ADDRESS
-- arguments: 1: list ID, 2: list ID
UPDATE /* lettersq.Enqueue */ TOTALS
SET    (QUEUED, WEIGHT) = (
           SELECT (queued + shared.JOBS), (totals.weight + shared.SUM_WEIGHT)
           FROM   (
                      SELECT held.ADDRESS AS OF_ADDRESS,
                             count(*) AS JOBS,
                             sum(held.weight) AS SUM_WEIGHT
                      FROM   LETTERS held
                      WHERE  (held.ID = :v0)
                      GROUP  BY held.ADDRESS
                  ) shared
           WHERE  TOTALS.ADDRESS = shared.OF_ADDRESS
       )
WHERE  (ADDRESS) IN (
           SELECT held.ADDRESS
           FROM   LETTERS held
           WHERE  (held.ID = :v0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'lost' THEN 1 END) AS FAILED
FROM   LETTERS;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, ID)
SELECT /* lettersq.Backlog */
       count(*) AS READY
FROM   LETTERS
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ID)
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       *
FROM   (
           SELECT ID, ADDRESS, WEIGHT, TRIES
           FROM   LETTERS
           WHERE  STATE = 'new'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'LETTERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of TOTALS
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'QUEUED' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'WEIGHT', 'number' FROM DUAL UNION ALL
           SELECT 'ADDRESS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LAST_ID', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TOTALS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also2.sql
-- verify: columns of WORKERS
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'DONE' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'NAME', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'WORKERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also3.sql
-- verify: columns of TRIES
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'N' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'LETTER_ID', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'TRIES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'LETTERS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'LETTERS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX LETTERS_READY ON LETTERS (STATE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
