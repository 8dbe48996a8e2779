-- Package poppedq uses the table JOBS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates JOBS_READY.
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
-- note: a claim deletes the rows it takes (strategy=pop), since the status has no done=: done=… or done:=… there keeps them, done=delete on qgen:queue says that they go
-- note: nothing in the DDL of HEADS tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken as they came, by column "ID"

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (STATUS, ID)
-- arguments: 1: limit, 2: cursor
DECLARE /* poppedq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(JOBS JOBS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   JOBS
        WHERE  STATUS = 'ready'
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT ID, TOKEN, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               BODY_ID
        FROM   JOBS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* poppedq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_PICKED.COUNT
        DELETE FROM JOBS
        WHERE  ID = ID_PICKED(i);
END;

-- sql/payload.sql
-- payload: what claimed jobs have in APP.BODIES, HEADS
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* poppedq.Payload */
       JOBS.ID, b.BODY, b.STATUS, b."RAW",
       TO_CHAR(b.MADE, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), HEADS.SUBJECT
FROM   JOBS
       LEFT JOIN APP.BODIES b
       ON  (b.id = JOBS.body_id)
       LEFT JOIN HEADS
       ON  (heads.body_id = JOBS.body_id)
WHERE  (JOBS.ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Token, 2: new LeaseTill, 3: new BodyID, 4: new_key
INSERT /* poppedq.Enqueue */ INTO JOBS
       (TOKEN, LEASE_TILL, BODY_ID)
VALUES (:1, TO_TIMESTAMP_TZ(:2, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), :3)
/* the new key */ RETURNING ID INTO :4;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (STATUS, ID)
SELECT /* poppedq.Stats */
       count(*) AS READY
FROM   JOBS
WHERE  STATUS = 'ready';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATUS, ID)
-- arguments: 1: limit
SELECT /* poppedq.Peek */
       *
FROM   (
           SELECT ID, TOKEN, TO_CHAR(LEASE_TILL, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
                  BODY_ID
           FROM   JOBS
           WHERE  STATUS = 'ready'
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

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
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'BODY_ID', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOBS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload.sql
-- verify: columns of APP.BODIES
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'BODY' AS name, 'clob' AS type FROM DUAL UNION ALL
           SELECT 'STATUS', 'varchar2' FROM DUAL UNION ALL
           SELECT 'RAW', 'blob' FROM DUAL UNION ALL
           SELECT 'MADE', 'timestamp with time zone' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = 'APP'
       AND have.table_name = 'BODIES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_payload2.sql
-- verify: columns of HEADS
-- locks: none
SELECT /* poppedq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SUBJECT' AS name, 'clob' AS type FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'HEADS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* poppedq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'JOBS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'JOBS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- jobsq advises the same
CREATE INDEX JOBS_READY ON JOBS (STATUS, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
