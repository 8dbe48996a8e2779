-- Package poppedq uses the table EMAIL_OUTBOX as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates EMAIL_OUTBOX_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
-- arguments: 1: param kind string, 2: limit, 3: cursor
DECLARE /* poppedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(EMAIL_OUTBOX EMAIL_OUTBOX_READY) */ ROWIDTOCHAR(ROWID)
        FROM   EMAIL_OUTBOX
        WHERE  STATE = 'N'
        AND    (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL)
        AND    KIND = :1
        ORDER  BY PRIORITY DESC, CREATED_AT DESC, MSG_ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT MSG_ID
        FROM   EMAIL_OUTBOX
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to done, of the rows that claim_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch MsgID
DECLARE /* poppedq.Claim */
    MSG_ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. MSG_ID_PICKED.COUNT
        UPDATE EMAIL_OUTBOX
        SET    STATE = 'C',
               LEASE_TILL = NULL
        WHERE  MSG_ID = MSG_ID_PICKED(i);
END;

-- sql/claim_read.sql
-- claim: reads the rows as they are written
-- locks: none
-- index: the key
-- arguments: 1: list MsgID
SELECT /* poppedq.Claim */
       MSG_ID, KIND, PRIORITY, TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
       TO_CHAR(NOT_BEFORE, 'YYYY-MM-DD HH24:MI:SS'),
       TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9'), TOKEN, TRIES, LAST_ERROR, BODY
FROM   EMAIL_OUTBOX
WHERE  (MSG_ID = :v0);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE); it reads those that are not old enough as well, which one on (STATE, CREATED_AT) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* poppedq.Purge */ FROM EMAIL_OUTBOX
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'C'
           AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'C'
AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Priority, 3: new NotBefore, 4: new Body, 5: new_key
INSERT /* poppedq.Enqueue */ INTO EMAIL_OUTBOX
       (KIND, PRIORITY, CREATED_AT, NOT_BEFORE, BODY)
VALUES (:1, coalesce(:2, 0), SYSTIMESTAMP, TO_DATE(:3, 'YYYY-MM-DD HH24:MI:SS'), :4)
/* the new key */ RETURNING MSG_ID INTO :5;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* poppedq.Stats */
       count(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'C' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same KIND is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kind string
SELECT /* poppedq.StatsOf */
       count(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'A' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'C' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'E' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'N' AND NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       count(CASE WHEN STATE = 'A' AND LEASE_TILL <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'N' AND (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX
WHERE  KIND = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by KIND
-- locks: none
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
SELECT /* poppedq.Backlog */
       KIND,
       count(CASE WHEN (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN NOT_BEFORE > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS DELAYED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL) THEN CREATED_AT END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   EMAIL_OUTBOX
WHERE  STATE = 'N'
GROUP  BY KIND
ORDER  BY KIND;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE)
-- arguments: 1: param kind string, 2: limit
SELECT /* poppedq.Peek */
       *
FROM   (
           SELECT MSG_ID, KIND, PRIORITY,
                  TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  TO_CHAR(NOT_BEFORE, 'YYYY-MM-DD HH24:MI:SS'),
                  TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9'), TOKEN, TRIES,
                  LAST_ERROR, BODY
           FROM   EMAIL_OUTBOX
           WHERE  STATE = 'N'
           AND    (NOT_BEFORE <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR NOT_BEFORE IS NULL)
           AND    KIND = :1
           ORDER  BY PRIORITY DESC, CREATED_AT DESC, MSG_ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'MSG_ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATE', 'char' FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'CREATED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'NOT_BEFORE', 'date' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'raw' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL UNION ALL
           SELECT 'LAST_ERROR', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EMAIL_OUTBOX'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* poppedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'EMAIL_OUTBOX_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'EMAIL_OUTBOX'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
-- emailq advises the same
CREATE INDEX EMAIL_OUTBOX_READY ON EMAIL_OUTBOX (STATE, KIND, PRIORITY DESC, CREATED_AT DESC, MSG_ID, NOT_BEFORE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
