-- Package mailsq uses the table MAILS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MAILS_EXPIRED.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "ID"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* mailsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  STATUS IN ('pending', 'failed')
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    STATUS = 'sending',
               TAKEN_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT ID, TO_CHAR(TAKEN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9')
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TAKEN_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch TakenAt, 3: counts
DECLARE /* mailsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM MAILS
        WHERE  ID = ID_HELD(i)
        AND    TAKEN_AT = TO_TIMESTAMP(TAKEN_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 'sending';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TAKEN_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch TakenAt, 3: counts
DECLARE /* mailsq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM MAILS
        WHERE  ID = ID_HELD(i)
        AND    TAKEN_AT = TO_TIMESTAMP(TAKEN_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 'sending';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TAKEN_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch TakenAt, 3: counts
DECLARE /* mailsq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATUS = 'pending',
               TAKEN_AT = NULL
        WHERE  ID = ID_HELD(i)
        AND    TAKEN_AT = TO_TIMESTAMP(TAKEN_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 'sending';
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TAKEN_AT as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch TakenAt, 3: counts
DECLARE /* mailsq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TAKEN_AT_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    TAKEN_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  ID = ID_HELD(i)
        AND    TAKEN_AT = TO_TIMESTAMP(TAKEN_AT_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    STATUS = 'sending';
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
SELECT /* mailsq.Extend */
       ID, TO_CHAR(TAKEN_AT, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   MAILS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (TAKEN_AT, STATUS)
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ MAILS
SET    STATUS = 'pending',
       TAKEN_AT = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATUS = 'sending'
           AND    TAKEN_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(3600, 'SECOND')
           AND    ROWNUM <= :1)
AND    STATUS = 'sending'
AND    TAKEN_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(3600, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new_key
INSERT /* mailsq.Enqueue */ INTO MAILS
       (STATUS)
VALUES ('pending')
/* the new key */ RETURNING ID INTO :1;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN STATUS IN ('pending', 'failed') THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'sending' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATUS = 'sending' AND TAKEN_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(3600, 'SECOND') THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(min(CASE WHEN STATUS = 'sending' THEN TAKEN_AT END) AS DATE)) * 86400 AS OLDEST_RUNNING
FROM   MAILS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       *
FROM   (
           SELECT ID
           FROM   MAILS
           WHERE  STATUS IN ('pending', 'failed')
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TAKEN_AT', 'timestamp' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MAILS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mailsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MAILS_EXPIRED' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'MAILS'
           AND    have.index_name = want.name);

-- serves Recover: claims that ran out
CREATE INDEX MAILS_EXPIRED ON MAILS (TAKEN_AT, STATUS) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
