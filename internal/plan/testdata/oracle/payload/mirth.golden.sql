-- Package mirthq uses the table D_MM7 as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates D_MM7_MIRTH_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: tries have no limit, so Fail always puts the job back (max= or a column of limits at qgen:attempts, or an outcome to failed)
-- note: no order is said: rows are taken in the order of the key, MESSAGE_ID, ID

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
-- arguments: 1: param serverID string, 2: held_list MessageID ID, 3: limit, 4: cursor
DECLARE /* mirthq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(D_MM7 D_MM7_MIRTH_READY) */ ROWIDTOCHAR(ROWID)
        FROM   D_MM7
        WHERE  STATUS = 'Q'
        AND    SERVER_ID = :1
AND    NOT (MESSAGE_ID = :v0 AND ID = :v0)
        ORDER  BY MESSAGE_ID, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :3;
    CLOSE candidate;
    OPEN :4 FOR
        SELECT MESSAGE_ID, ID, SERVER_ID, SEND_ATTEMPTS
        FROM   D_MM7
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/payload.sql
-- payload: what claimed jobs have in D_MC7
-- locks: none
-- index: the key
-- arguments: 1: list MessageID ID
SELECT /* mirthq.Payload */
       D_MM7.MESSAGE_ID, D_MM7.ID, c.CONTENT
FROM   D_MM7
       LEFT JOIN D_MC7 c
       ON  (c.message_id = D_MM7.message_id and c.metadata_id = D_MM7.id and c.content_type = 4)
WHERE  ((D_MM7.MESSAGE_ID = :v0 AND D_MM7.ID = :v0));

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MessageID, 2: batch ID, 3: counts
DECLARE /* mirthq.Complete */
    MESSAGE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MESSAGE_ID_HELD.COUNT
        UPDATE D_MM7
        SET    STATUS = 'S'
        WHERE  MESSAGE_ID = MESSAGE_ID_HELD(i)
        AND    ID = ID_HELD(i)
        AND    STATUS = 'Q';
    FOR i IN 1 .. MESSAGE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MessageID, 2: batch ID, 3: counts
DECLARE /* mirthq.Fail */
    MESSAGE_ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    ID_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. MESSAGE_ID_HELD.COUNT
        UPDATE D_MM7
        SET    SEND_ATTEMPTS = SEND_ATTEMPTS + 1
        WHERE  MESSAGE_ID = MESSAGE_ID_HELD(i)
        AND    ID = ID_HELD(i)
        AND    STATUS = 'Q';
    FOR i IN 1 .. MESSAGE_ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
-- arguments: 1: limit
UPDATE /* mirthq.Redrive */ D_MM7
SET    STATUS = 'Q',
       SEND_ATTEMPTS = 0
WHERE  ROWID IN (
           SELECT ROWID
           FROM   D_MM7
           WHERE  STATUS = 'E'
           AND    ROWNUM <= :1)
AND    STATUS = 'E';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
-- arguments: 1: limit
DELETE /* mirthq.Purge */ FROM D_MM7
WHERE  ROWID IN (
           SELECT ROWID
           FROM   D_MM7
           WHERE  STATUS = 'S'
           AND    ROWNUM <= :1)
AND    STATUS = 'S';

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
-- arguments: 1: limit
DELETE /* mirthq.Purge */ FROM D_MM7
WHERE  ROWID IN (
           SELECT ROWID
           FROM   D_MM7
           WHERE  STATUS = 'E'
           AND    ROWNUM <= :1)
AND    STATUS = 'E';

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new MessageID, 2: new ID, 3: new ServerID
INSERT /* mirthq.Enqueue */ INTO D_MM7
       (MESSAGE_ID, ID, SERVER_ID, STATUS)
VALUES (:1, :2, :3, 'Q');

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mirthq.Stats */
       count(CASE WHEN STATUS = 'Q' THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'S' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'E' THEN 1 END) AS FAILED
FROM   D_MM7;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same SERVER_ID is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param serverID string
SELECT /* mirthq.StatsOf */
       count(CASE WHEN STATUS = 'Q' THEN 1 END) AS READY,
       count(CASE WHEN STATUS = 'S' THEN 1 END) AS DONE,
       count(CASE WHEN STATUS = 'E' THEN 1 END) AS FAILED
FROM   D_MM7
WHERE  SERVER_ID = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by SERVER_ID
-- locks: none
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
SELECT /* mirthq.Backlog */
       SERVER_ID,
       count(*) AS READY
FROM   D_MM7
WHERE  STATUS = 'Q'
GROUP  BY SERVER_ID
ORDER  BY SERVER_ID;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, SERVER_ID, MESSAGE_ID, ID)
-- arguments: 1: param serverID string, 2: limit
SELECT /* mirthq.Peek */
       *
FROM   (
           SELECT MESSAGE_ID, ID, SERVER_ID, SEND_ATTEMPTS
           FROM   D_MM7
           WHERE  STATUS = 'Q'
           AND    SERVER_ID = :1
           ORDER  BY MESSAGE_ID, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mirthq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mirthq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'MESSAGE_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ID', 'number' FROM DUAL UNION ALL
           SELECT 'SERVER_ID', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATUS', 'char' FROM DUAL UNION ALL
           SELECT 'SEND_ATTEMPTS', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'D_MM7'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of D_MC7
-- locks: none
SELECT /* mirthq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'CONTENT' AS name, 'clob' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'D_MC7'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mirthq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'D_MM7_MIRTH_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'D_MM7'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX D_MM7_MIRTH_READY ON D_MM7 (STATUS, SERVER_ID, MESSAGE_ID, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
