-- Package ordersq uses the table ORDERS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, REGION, SEQ

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: the primary key (REGION, SEQ)
-- arguments: 1: limit, 2: cursor
DECLARE /* ordersq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   ORDERS
        WHERE  NOT EXISTS (SELECT 1 FROM RESERVATIONS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ AND NOT (RESERVATIONS.SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND')))
        ORDER  BY REGION, SEQ
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    OPEN :2 FOR
        SELECT REGION, SEQ
        FROM   ORDERS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of RESERVATIONS for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: worker Holder, 4: counts
DECLARE /* ordersq.Claim */
    REGION_PICKED DBMS_SQL.VARCHAR2A := :1;
    SEQ_PICKED DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FOR i IN 1 .. REGION_PICKED.COUNT LOOP
        BEGIN
            MERGE INTO RESERVATIONS
            USING (SELECT REGION_PICKED(i) AS REGION, SEQ_PICKED(i) AS SEQ FROM DUAL) picked
            ON    (RESERVATIONS.REGION = picked.REGION
                  AND RESERVATIONS.ORDER_NO = picked.SEQ)
            WHEN MATCHED THEN
                UPDATE SET HOLDER = :3,
                           SINCE = SYS_EXTRACT_UTC(SYSTIMESTAMP),
                           TRIES = RESERVATIONS.TRIES + 1
                WHERE  RESERVATIONS.SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND')
            WHEN NOT MATCHED THEN
                INSERT (REGION, ORDER_NO, HOLDER, SINCE, TRIES)
                VALUES (picked.REGION, picked.SEQ, :3, SYS_EXTRACT_UTC(SYSTIMESTAMP), 1);
            changed(i) := SQL%ROWCOUNT;
        EXCEPTION
            WHEN DUP_VAL_ON_INDEX THEN
                changed(i) := 0;
        END;
    END LOOP;
    :4 := changed;
END;

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- arguments: 1: list Region Seq
SELECT /* ordersq.Claim */
       ORDERS.REGION, ORDERS.SEQ, ORDERS.BODY, RESERVATIONS.HOLDER,
       TO_CHAR(RESERVATIONS.SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9'), RESERVATIONS.TRIES
FROM   RESERVATIONS, ORDERS
WHERE  ((ORDERS.REGION = :v0 AND ORDERS.SEQ = :v0))
AND    RESERVATIONS.REGION = ORDERS.REGION
AND    RESERVATIONS.ORDER_NO = ORDERS.SEQ;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list Region Seq
SELECT /* ordersq.Complete */
       REGION, SEQ
FROM   ORDERS
WHERE  ((REGION = :v0 AND SEQ = :v0))
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Since, 4: batch Holder, 5: counts
DECLARE /* ordersq.Complete */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    ORDER_NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :3;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM RESERVATIONS
        WHERE  REGION = REGION_HELD(i)
        AND    ORDER_NO = ORDER_NO_HELD(i)
        AND    SINCE = TO_TIMESTAMP(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    HOLDER = HOLDER_HELD(i)
        AND    (EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq
DECLARE /* ordersq.Complete */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    SEQ_HELD DBMS_SQL.NUMBER_TABLE := :2;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM ORDERS
        WHERE  REGION = REGION_HELD(i)
        AND    SEQ = SEQ_HELD(i);
END;

-- sql/retry.sql
-- retry: running to ready, no try used
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Since, 4: batch Holder, 5: counts
DECLARE /* ordersq.Fail */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    ORDER_NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :3;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM RESERVATIONS
        WHERE  REGION = REGION_HELD(i)
        AND    ORDER_NO = ORDER_NO_HELD(i)
        AND    SINCE = TO_TIMESTAMP(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    HOLDER = HOLDER_HELD(i)
        AND    (EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Since, 4: batch Holder, 5: counts
DECLARE /* ordersq.Requeue */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    ORDER_NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :3;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        DELETE FROM RESERVATIONS
        WHERE  REGION = REGION_HELD(i)
        AND    ORDER_NO = ORDER_NO_HELD(i)
        AND    SINCE = TO_TIMESTAMP(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    HOLDER = HOLDER_HELD(i)
        AND    (EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: SINCE, HOLDER as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Region, 2: batch Seq, 3: batch Since, 4: batch Holder, 5: counts
DECLARE /* ordersq.Extend */
    REGION_HELD DBMS_SQL.VARCHAR2A := :1;
    ORDER_NO_HELD DBMS_SQL.NUMBER_TABLE := :2;
    SINCE_HELD DBMS_SQL.VARCHAR2A := :3;
    HOLDER_HELD DBMS_SQL.VARCHAR2A := :4;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. REGION_HELD.COUNT
        UPDATE RESERVATIONS
        SET    SINCE = SYS_EXTRACT_UTC(SYSTIMESTAMP)
        WHERE  REGION = REGION_HELD(i)
        AND    ORDER_NO = ORDER_NO_HELD(i)
        AND    SINCE = TO_TIMESTAMP(SINCE_HELD(i), 'YYYY-MM-DD HH24:MI:SS.FF9')
        AND    HOLDER = HOLDER_HELD(i)
        AND    (EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ));
    FOR i IN 1 .. REGION_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :5 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list Region Seq
SELECT /* ordersq.Extend */
       REGION, ORDER_NO, TO_CHAR(SINCE, 'YYYY-MM-DD HH24:MI:SS.FF9')
FROM   RESERVATIONS
WHERE  ((REGION = :v0 AND ORDER_NO = :v0));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: none; it reads the table until it has found enough; one on (SINCE) would find them
-- arguments: 1: limit
DELETE /* ordersq.Recover */ FROM RESERVATIONS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   RESERVATIONS
           WHERE  (NOT EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ))
           AND    SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND')
           AND    ROWNUM <= :1)
AND    (NOT EXISTS (SELECT 1 FROM ORDERS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ))
AND    SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq, 3: new Body
INSERT /* ordersq.Enqueue */ INTO ORDERS
       (REGION, SEQ, BODY)
VALUES (:1, :2, :3);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(CASE WHEN (RESERVATIONS.REGION IS NULL OR RESERVATIONS.SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND')) THEN 1 END) AS READY,
       count(CASE WHEN RESERVATIONS.SINCE > SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND') THEN 1 END) AS RUNNING,
       count(CASE WHEN RESERVATIONS.SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND') THEN 1 END) AS EXPIRED
FROM   ORDERS LEFT JOIN RESERVATIONS ON RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (REGION, SEQ)
-- arguments: 1: limit
SELECT /* ordersq.Peek */
       *
FROM   (
           SELECT REGION, SEQ, BODY
           FROM   ORDERS
           WHERE  NOT EXISTS (SELECT 1 FROM RESERVATIONS WHERE RESERVATIONS.REGION = ORDERS.REGION AND RESERVATIONS.ORDER_NO = ORDERS.SEQ AND NOT (RESERVATIONS.SINCE <= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(1800, 'SECOND')))
           ORDER  BY REGION, SEQ
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REGION' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'SEQ', 'number' FROM DUAL UNION ALL
           SELECT 'BODY', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'ORDERS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of RESERVATIONS
-- locks: none
SELECT /* ordersq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'REGION' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'ORDER_NO', 'number' FROM DUAL UNION ALL
           SELECT 'HOLDER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'SINCE', 'timestamp' FROM DUAL UNION ALL
           SELECT 'TRIES', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'RESERVATIONS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
