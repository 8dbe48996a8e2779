-- Package mailsq uses the table MAILS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> (deleted)
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
-- note: a row whose claim has run out is claimed again, since nothing but column "TILL" says which rows run (expired=claim)
-- note: no order is said: rows are taken in the order of the key, TENANT, MESSAGE
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue_if: Enqueue adds a job only where (exists (select 1 from tenants t where t.id = {new}.tenant and t.active = 1)), and locks nothing that this reads: it may have changed when the job is there
-- note: enqueue=absent leaves a job out where a row is like it in TENANT, MESSAGE (primary key)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (TENANT, MESSAGE)
-- arguments: 1: limit, 2: cursor
DECLARE /* mailsq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   MAILS
        WHERE  (TILL <= SYSTIMESTAMP OR TILL IS NULL)
        ORDER  BY TENANT, MESSAGE
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE MAILS
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT TENANT, MESSAGE, BODY, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        FROM   MAILS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till, 4: counts
DECLARE /* mailsq.Complete */
    TENANT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MESSAGE_HELD DBMS_SQL.VARCHAR2A := :2;
    TILL_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TENANT_HELD.COUNT
        DELETE FROM MAILS
        WHERE  TENANT = TENANT_HELD(i)
        AND    MESSAGE = MESSAGE_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. TENANT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/fail.sql
-- fail: running to failed
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till, 4: counts
DECLARE /* mailsq.Fail */
    TENANT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MESSAGE_HELD DBMS_SQL.VARCHAR2A := :2;
    TILL_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TENANT_HELD.COUNT
        DELETE FROM MAILS
        WHERE  TENANT = TENANT_HELD(i)
        AND    MESSAGE = MESSAGE_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. TENANT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till, 4: counts
DECLARE /* mailsq.Requeue */
    TENANT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MESSAGE_HELD DBMS_SQL.VARCHAR2A := :2;
    TILL_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TENANT_HELD.COUNT
        UPDATE MAILS
        SET    TILL = NULL
        WHERE  TENANT = TENANT_HELD(i)
        AND    MESSAGE = MESSAGE_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. TENANT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: TILL as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Tenant, 2: batch Message, 3: batch Till, 4: counts
DECLARE /* mailsq.Extend */
    TENANT_HELD DBMS_SQL.NUMBER_TABLE := :1;
    MESSAGE_HELD DBMS_SQL.VARCHAR2A := :2;
    TILL_HELD DBMS_SQL.VARCHAR2A := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. TENANT_HELD.COUNT
        UPDATE MAILS
        SET    TILL = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
        WHERE  TENANT = TENANT_HELD(i)
        AND    MESSAGE = MESSAGE_HELD(i)
        AND    TILL = TO_TIMESTAMP_TZ(TILL_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
        AND    TILL IS NOT NULL;
    FOR i IN 1 .. TENANT_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list Tenant Message
SELECT /* mailsq.Extend */
       TENANT, MESSAGE, TO_CHAR(TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM')
FROM   MAILS
WHERE  ((TENANT = :v0 AND MESSAGE = :v0));

-- sql/enqueue.sql
-- enqueue: a new ready row where enqueue_if holds, else none, unless a row stands in its way by a unique key: then it fails with the error of that key, which is told from others
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- index: whichever finds the rows of enqueue_if
-- arguments: 1: new Tenant, 2: new Message, 3: new Body, 4: new Tenant
INSERT /* mailsq.Enqueue */ INTO MAILS
       (TENANT, MESSAGE, BODY)
SELECT :1, :2, :3
FROM   DUAL
WHERE  (exists (select 1 from tenants t where t.id = :4 and t.active = 1));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(CASE WHEN (TILL <= SYSTIMESTAMP OR TILL IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN TILL IS NOT NULL AND TILL > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN TILL IS NOT NULL AND TILL <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   MAILS;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (TENANT, MESSAGE)
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       *
FROM   (
           SELECT TENANT, MESSAGE, BODY
           FROM   MAILS
           WHERE  (TILL <= SYSTIMESTAMP OR TILL IS NULL)
           ORDER  BY TENANT, MESSAGE
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
           SELECT 'TENANT' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'MESSAGE', 'varchar2' FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TILL', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'MAILS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
