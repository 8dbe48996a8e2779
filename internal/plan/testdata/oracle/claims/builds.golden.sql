-- Package buildsq uses the table BUILDREQUESTS as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates BUILDREQUESTS_BUILDS_READY.
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

-- sql/claim_lock.sql
-- claim: locks ready rows, for which claim.sql then adds claims
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (COMPLETE, BUILDERID, PRIORITY DESC, SUBMITTED_AT, ID)
-- arguments: 1: param builderid int64, 2: limit, 3: cursor
DECLARE /* buildsq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(BUILDREQUESTS BUILDREQUESTS_BUILDS_READY) */ ROWIDTOCHAR(ROWID)
        FROM   BUILDREQUESTS
        WHERE  COMPLETE = 0
        AND    BUILDERID = :1
        AND    NOT EXISTS (SELECT 1 FROM BUILDREQUEST_CLAIMS WHERE BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID)
        ORDER  BY PRIORITY DESC, SUBMITTED_AT, ID
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :2;
    CLOSE candidate;
    OPEN :3 FOR
        SELECT ID
        FROM   BUILDREQUESTS
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/claim.sql
-- claim: ready to running, by a row of BUILDREQUEST_CLAIMS for each of the rows that claim_lock.sql locked
-- locks: the claims it adds, until commit
-- index: the key
-- arguments: 1: batch ID, 2: worker Masterid, 3: counts
DECLARE /* buildsq.Claim */
    ID_PICKED DBMS_SQL.NUMBER_TABLE := :1;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FOR i IN 1 .. ID_PICKED.COUNT LOOP
        BEGIN
            MERGE INTO BUILDREQUEST_CLAIMS
            USING (SELECT ID_PICKED(i) AS ID FROM DUAL) picked
            ON    (BUILDREQUEST_CLAIMS.BRID = picked.ID)
            WHEN NOT MATCHED THEN
                INSERT (BRID, MASTERID, CLAIMED_AT)
                VALUES (picked.ID, :2,
                        FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5));
            changed(i) := SQL%ROWCOUNT;
        EXCEPTION
            WHEN DUP_VAL_ON_INDEX THEN
                changed(i) := 0;
        END;
    END LOOP;
    :3 := changed;
END;

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- arguments: 1: list ID
SELECT /* buildsq.Claim */
       BUILDREQUESTS.ID, BUILDREQUESTS.BUILDERID, BUILDREQUESTS.PRIORITY,
       BUILDREQUESTS.SUBMITTED_AT, BUILDREQUEST_CLAIMS.MASTERID,
       BUILDREQUEST_CLAIMS.CLAIMED_AT
FROM   BUILDREQUEST_CLAIMS, BUILDREQUESTS
WHERE  (BUILDREQUESTS.ID = :v0)
AND    BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID
AND    BUILDREQUESTS.COMPLETE = 0;

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- arguments: 1: list ID
SELECT /* buildsq.Complete */
       ID
FROM   BUILDREQUESTS
WHERE  (ID = :v0)
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: CLAIMED_AT, MASTERID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid, 4: counts
DECLARE /* buildsq.Complete */
    BRID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIMED_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    MASTERID_HELD DBMS_SQL.NUMBER_TABLE := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. BRID_HELD.COUNT
        UPDATE BUILDREQUEST_CLAIMS
        SET    MASTERID = MASTERID
        WHERE  BRID = BRID_HELD(i)
        AND    CLAIMED_AT = CLAIMED_AT_HELD(i)
        AND    MASTERID = MASTERID_HELD(i)
        AND    (EXISTS (SELECT 1 FROM BUILDREQUESTS WHERE BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID AND BUILDREQUESTS.COMPLETE = 0));
    FOR i IN 1 .. BRID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
DECLARE /* buildsq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE BUILDREQUESTS
        SET    COMPLETE = 1,
               COMPLETE_AT = FLOOR((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - DATE '1970-01-01') * 86400 + 0.5)
        WHERE  ID = ID_HELD(i)
        AND    COMPLETE = 0;
END;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: CLAIMED_AT, MASTERID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid, 4: counts
DECLARE /* buildsq.Fail */
    BRID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIMED_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    MASTERID_HELD DBMS_SQL.NUMBER_TABLE := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. BRID_HELD.COUNT
        DELETE FROM BUILDREQUEST_CLAIMS
        WHERE  BRID = BRID_HELD(i)
        AND    CLAIMED_AT = CLAIMED_AT_HELD(i)
        AND    MASTERID = MASTERID_HELD(i)
        AND    (EXISTS (SELECT 1 FROM BUILDREQUESTS WHERE BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID AND BUILDREQUESTS.COMPLETE = 0));
    FOR i IN 1 .. BRID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: CLAIMED_AT, MASTERID as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid, 4: counts
DECLARE /* buildsq.Requeue */
    BRID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    CLAIMED_AT_HELD DBMS_SQL.NUMBER_TABLE := :2;
    MASTERID_HELD DBMS_SQL.NUMBER_TABLE := :3;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. BRID_HELD.COUNT
        DELETE FROM BUILDREQUEST_CLAIMS
        WHERE  BRID = BRID_HELD(i)
        AND    CLAIMED_AT = CLAIMED_AT_HELD(i)
        AND    MASTERID = MASTERID_HELD(i)
        AND    (EXISTS (SELECT 1 FROM BUILDREQUESTS WHERE BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID AND BUILDREQUESTS.COMPLETE = 0));
    FOR i IN 1 .. BRID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :4 := changed;
END;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Builderid, 2: new Priority, 3: new SubmittedAt, 4: new_key
INSERT /* buildsq.Enqueue */ INTO BUILDREQUESTS
       (BUILDERID, PRIORITY, SUBMITTED_AT)
VALUES (:1, coalesce(:2, 0), :3)
/* the new key */ RETURNING ID INTO :4;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 0 AND BUILDREQUEST_CLAIMS.BRID IS NULL THEN 1 END) AS READY,
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 0 AND BUILDREQUEST_CLAIMS.BRID IS NOT NULL THEN 1 END) AS RUNNING,
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 1 THEN 1 END) AS DONE
FROM   BUILDREQUESTS LEFT JOIN BUILDREQUEST_CLAIMS ON BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same BUILDERID is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param builderid int64
SELECT /* buildsq.StatsOf */
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 0 AND BUILDREQUEST_CLAIMS.BRID IS NULL THEN 1 END) AS READY,
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 0 AND BUILDREQUEST_CLAIMS.BRID IS NOT NULL THEN 1 END) AS RUNNING,
       count(CASE WHEN BUILDREQUESTS.COMPLETE = 1 THEN 1 END) AS DONE
FROM   BUILDREQUESTS LEFT JOIN BUILDREQUEST_CLAIMS ON BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID
WHERE  BUILDREQUESTS.BUILDERID = :1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by BUILDERID
-- locks: none
-- index: (COMPLETE, BUILDERID, PRIORITY DESC, SUBMITTED_AT, ID)
SELECT /* buildsq.Backlog */
       BUILDREQUESTS.BUILDERID,
       count(*) AS READY
FROM   BUILDREQUESTS LEFT JOIN BUILDREQUEST_CLAIMS ON BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID
WHERE  BUILDREQUESTS.COMPLETE = 0
AND    BUILDREQUEST_CLAIMS.BRID IS NULL
GROUP  BY BUILDREQUESTS.BUILDERID
ORDER  BY BUILDREQUESTS.BUILDERID;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (COMPLETE, BUILDERID, PRIORITY DESC, SUBMITTED_AT, ID)
-- arguments: 1: param builderid int64, 2: limit
SELECT /* buildsq.Peek */
       *
FROM   (
           SELECT ID, BUILDERID, PRIORITY, SUBMITTED_AT
           FROM   BUILDREQUESTS
           WHERE  COMPLETE = 0
           AND    BUILDERID = :1
           AND    NOT EXISTS (SELECT 1 FROM BUILDREQUEST_CLAIMS WHERE BUILDREQUEST_CLAIMS.BRID = BUILDREQUESTS.ID)
           ORDER  BY PRIORITY DESC, SUBMITTED_AT, ID
       )
WHERE  ROWNUM <= :2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'BUILDERID', 'number' FROM DUAL UNION ALL
           SELECT 'PRIORITY', 'number' FROM DUAL UNION ALL
           SELECT 'COMPLETE', 'number' FROM DUAL UNION ALL
           SELECT 'COMPLETE_AT', 'number' FROM DUAL UNION ALL
           SELECT 'SUBMITTED_AT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BUILDREQUESTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_lease.sql
-- verify: columns of BUILDREQUEST_CLAIMS
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'BRID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'MASTERID', 'number' FROM DUAL UNION ALL
           SELECT 'CLAIMED_AT', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'BUILDREQUEST_CLAIMS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'BUILDREQUESTS_BUILDS_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'BUILDREQUESTS'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX BUILDREQUESTS_BUILDS_READY ON BUILDREQUESTS (COMPLETE, BUILDERID, PRIORITY DESC, SUBMITTED_AT, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
