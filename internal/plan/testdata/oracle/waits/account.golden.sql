-- Package accountq uses the table MAILS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block locks the first rows in queue order, waiting for locked ones, and writes them.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in ACCOUNT, at most as many run at once as this says: select most from accounts where id = {row}.account; a claim locks the row of ACCOUNTS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it waits for groups that another claims from at that moment, and leaves out those that are full then.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates MAILS_ACCOUNT_READY.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    Oracle 19 cannot return the rows of an UPDATE
-- * block        a block locks the first rows in queue order, waiting for locked ones, and writes them
--   token        no column can hold the key of a batch
--   lock_update  the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   advisory     Oracle has no locks on numbers
--   guarded      the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of ACCOUNTS for each group that they are of, until commit; waits for rows and groups that are locked
-- index: (STATE, ACCOUNT, MADE, ID)
-- arguments: 1: param account int64, 2: limit, 3: cursor
DECLARE /* accountq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  ROWID IN (
                   SELECT picked_row
                   FROM   (
                              SELECT /*+ INDEX(MAILS MAILS_ACCOUNT_READY) */ ROWID AS picked_row
                              FROM   MAILS
                              WHERE  STATE = 'new'
                              AND    ACCOUNT = :1
                              AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'busy')
                              AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'new'
               AND    (other.MADE < MAILS.MADE OR other.MADE = MAILS.MADE AND other.ID < MAILS.ID))
                              ORDER  BY MADE, ID
                          )
                   WHERE  ROWNUM <= :2)
        AND    STATE = 'new'
        AND    ACCOUNT = :1
        AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'busy')
        AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :1
               AND    other.STATE = 'new'
               AND    (other.MADE < MAILS.MADE OR other.MADE = MAILS.MADE AND other.ID < MAILS.ID))
        FOR    UPDATE;
    found SYS.ODCIVARCHAR2LIST;
    held SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found LIMIT :2;
    CLOSE candidate;
    FOR found_row IN (
        SELECT ROWIDTOCHAR(ROWID) AS place, ACCOUNT
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
    ) LOOP
        FOR i IN (
            SELECT 1
            FROM   ACCOUNTS
            WHERE  id = found_row.account
            FOR    UPDATE
        ) LOOP
            held.EXTEND;
            held(held.COUNT) := found_row.place;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked
    FROM   MAILS
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held))
    AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = MAILS.ACCOUNT
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = MAILS.ACCOUNT
               AND    other.STATE = 'new'
               AND    (other.MADE < MAILS.MADE OR other.MADE = MAILS.MADE AND other.ID < MAILS.ID));
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    STATE = 'busy',
               TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, ACCOUNT, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Till, 3: counts
DECLARE /* accountq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'sent',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
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
DECLARE /* accountq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'dead',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
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
DECLARE /* accountq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    STATE = 'new',
               TILL = NULL
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
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
DECLARE /* accountq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    TILL_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE MAILS
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ID = ID_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    STATE = 'busy';
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
SELECT /* accountq.Extend */
       ID, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   MAILS
WHERE  (ID = :v0);

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ACCOUNT, MADE, ID), which finds the rows that somebody has by STATE
-- arguments: 1: limit
UPDATE /* accountq.Recover */ MAILS
SET    STATE = 'new',
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'busy'
           AND    TILL <= SYSTIMESTAMP
           AND    ROWNUM <= :1)
AND    STATE = 'busy'
AND    TILL <= SYSTIMESTAMP;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ACCOUNT, MADE, ID)
-- arguments: 1: limit
UPDATE /* accountq.Redrive */ MAILS
SET    STATE = 'new',
       TILL = NULL
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'dead'
           AND    ROWNUM <= :1)
AND    STATE = 'dead';

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ACCOUNT, MADE, ID); it reads those that are not old enough as well, which one on (STATE, MADE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* accountq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'sent'
           AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'sent'
AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, ACCOUNT, MADE, ID); it reads those that are not old enough as well, which one on (STATE, MADE) would not
-- arguments: 1: older, 2: limit, 3: older
DELETE /* accountq.Purge */ FROM MAILS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   MAILS
           WHERE  STATE = 'dead'
           AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:1, 'SECOND')
           AND    ROWNUM <= :2)
AND    STATE = 'dead'
AND    MADE <= SYSTIMESTAMP - NUMTODSINTERVAL(:3, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Account, 2: new_key
INSERT /* accountq.Enqueue */ INTO MAILS
       (ACCOUNT, MADE)
VALUES (:1, SYSTIMESTAMP)
/* the new key */ RETURNING ID INTO :2;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* accountq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'new' THEN MADE END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same ACCOUNT is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param account int64
SELECT /* accountq.StatsOf */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'sent' THEN 1 END) AS DONE,
       count(CASE WHEN STATE = 'dead' THEN 1 END) AS FAILED,
       count(CASE WHEN STATE = 'busy' AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(CASE WHEN STATE = 'new' THEN MADE END)) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS
WHERE  ACCOUNT = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by ACCOUNT
-- locks: none
-- index: (STATE, ACCOUNT, MADE, ID)
SELECT /* accountq.Backlog */
       ACCOUNT,
       count(*) AS READY,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(min(MADE)) AS DATE)) * 86400 AS OLDEST_READY
FROM   MAILS
WHERE  STATE = 'new'
GROUP  BY ACCOUNT
ORDER  BY ACCOUNT;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, ACCOUNT, MADE, ID)
-- arguments: 1: param account int64, 2: param account int64, 3: param account int64, 4: param account int64, 5: limit
SELECT /* accountq.Peek */
       *
FROM   (
           SELECT ID, ACCOUNT, TO_CHAR(MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
           FROM   MAILS
           WHERE  STATE = 'new'
           AND    ACCOUNT = :1
           AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :2
               AND    other.STATE = 'busy')
           AND    coalesce((select most from accounts where id = MAILS.account), 0) > (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :3
               AND    other.STATE = 'busy')
           + (SELECT count(*)
               FROM   MAILS other
               WHERE  other.ACCOUNT = :4
               AND    other.STATE = 'new'
               AND    (other.MADE < MAILS.MADE OR other.MADE = MAILS.MADE AND other.ID < MAILS.ID))
           ORDER  BY MADE, ID
       )
WHERE  ROWNUM <= :5;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* accountq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* accountq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'ACCOUNT', 'number' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'MADE', 'timestamp with time zone' FROM DUAL
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
SELECT /* accountq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'MAILS_ACCOUNT_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'MAILS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; it also serves Claim: who is before a row in its group, and which of them run; it also serves Recover: rows that somebody has, which are few
CREATE INDEX MAILS_ACCOUNT_READY ON MAILS (STATE, ACCOUNT, MADE, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
