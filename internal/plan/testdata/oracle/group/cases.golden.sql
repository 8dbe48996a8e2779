-- Package casesq uses the table CASES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in CASE_ID, one runs at once; a claim locks the row of TENANTS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates CASES_GROUP and CASES_LINE.
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
--   lock_update  the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   advisory     Oracle has no locks on numbers
--   guarded      the rows that stand for groups are locked within a block: Oracle locks nothing in a sub-query
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "ID"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for CASE_ID has it read rows of one group alone

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of TENANTS for each group that they are of, until commit; passes over rows and groups that are locked
-- index: the primary key (ID)
-- arguments: 1: limit, 2: worker OwnerName, 3: cursor
DECLARE /* casesq.Claim */
    CURSOR candidate IS
        SELECT ROWIDTOCHAR(ROWID)
        FROM   CASES
        WHERE  (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL)
        AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   CASES other
               WHERE  other.CASE_ID = CASES.CASE_ID
               AND    (alone = 1)
               AND    other.UNTIL_AT IS NOT NULL
               AND    other.UNTIL_AT > SYSTIMESTAMP)
           AND NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   CASES other
               WHERE  other.CASE_ID = CASES.CASE_ID
               AND    (alone = 1)
               AND    (other.UNTIL_AT <= SYSTIMESTAMP OR other.UNTIL_AT IS NULL)
               AND    other.ID < CASES.ID)))
        ORDER  BY ID
        FOR    UPDATE SKIP LOCKED;
    found SYS.ODCIVARCHAR2LIST;
    held SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found LIMIT :1;
    CLOSE candidate;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO held
    FROM   CASES
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
    AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0);
    FOR found_row IN (
        SELECT ROWIDTOCHAR(ROWID) AS place, CASE_ID
        FROM   CASES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found))
        AND    (alone = 1)
    ) LOOP
        FOR i IN (
            SELECT 1
            FROM   TENANTS
            WHERE  id = found_row.case_id
            FOR    UPDATE SKIP LOCKED
        ) LOOP
            held.EXTEND;
            held(held.COUNT) := found_row.place;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked
    FROM   CASES
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held))
    AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (SELECT count(*)
               FROM   CASES other
               WHERE  other.CASE_ID = CASES.CASE_ID
               AND    (alone = 1)
               AND    other.UNTIL_AT IS NOT NULL
               AND    other.UNTIL_AT > SYSTIMESTAMP) = 0);
    FORALL i IN 1 .. picked.COUNT
        UPDATE CASES
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               OWNER_NAME = :2,
               REV = REV + 1
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :3 FOR
        SELECT ID, CASE_ID, ALONE, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'),
               REV
        FROM   CASES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: REV as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Rev, 3: counts
DECLARE /* casesq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    REV_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        DELETE FROM CASES
        WHERE  ID = ID_HELD(i)
        AND    REV = REV_HELD(i)
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: REV as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Rev, 3: counts
DECLARE /* casesq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    REV_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CASES
        SET    UNTIL_AT = NULL,
               OWNER_NAME = NULL,
               REV = REV + 1
        WHERE  ID = ID_HELD(i)
        AND    REV = REV_HELD(i)
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: REV as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Rev, 3: counts
DECLARE /* casesq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    REV_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CASES
        SET    UNTIL_AT = NULL,
               OWNER_NAME = NULL,
               REV = REV + 1
        WHERE  ID = ID_HELD(i)
        AND    REV = REV_HELD(i)
        AND    UNTIL_AT IS NOT NULL;
    FOR i IN 1 .. ID_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: REV as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Rev, 3: counts
DECLARE /* casesq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    REV_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. ID_HELD.COUNT
        UPDATE CASES
        SET    UNTIL_AT = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND'),
               REV = REV + 1
        WHERE  ID = ID_HELD(i)
        AND    REV = REV_HELD(i)
        AND    UNTIL_AT IS NOT NULL;
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
SELECT /* casesq.Extend */
       ID, TO_CHAR(UNTIL_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), REV
FROM   CASES
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new CaseID, 2: new Alone, 3: new_key
INSERT /* casesq.Enqueue */ INTO CASES
       (CASE_ID, ALONE)
VALUES (:1, :2)
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(CASE WHEN (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN UNTIL_AT IS NOT NULL AND UNTIL_AT > SYSTIMESTAMP THEN 1 END) AS RUNNING,
       count(CASE WHEN UNTIL_AT IS NOT NULL AND UNTIL_AT <= SYSTIMESTAMP THEN 1 END) AS EXPIRED
FROM   CASES;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* casesq.Peek */
       *
FROM   (
           SELECT ID, CASE_ID, ALONE, REV
           FROM   CASES
           WHERE  (UNTIL_AT <= SYSTIMESTAMP OR UNTIL_AT IS NULL)
           AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR (NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   CASES other
               WHERE  other.CASE_ID = CASES.CASE_ID
               AND    (alone = 1)
               AND    other.UNTIL_AT IS NOT NULL
               AND    other.UNTIL_AT > SYSTIMESTAMP)
           AND NOT EXISTS (SELECT /*+ NO_UNNEST */ 1
               FROM   CASES other
               WHERE  other.CASE_ID = CASES.CASE_ID
               AND    (alone = 1)
               AND    (other.UNTIL_AT <= SYSTIMESTAMP OR other.UNTIL_AT IS NULL)
               AND    other.ID < CASES.ID)))
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* casesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'CASE_ID', 'number' FROM DUAL UNION ALL
           SELECT 'ALONE', 'number' FROM DUAL UNION ALL
           SELECT 'UNTIL_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'OWNER_NAME', 'varchar2' FROM DUAL UNION ALL
           SELECT 'REV', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'CASES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* casesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'CASES_GROUP' AS name FROM DUAL UNION ALL
           SELECT 'CASES_LINE' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'CASES'
           AND    have.index_name = want.name);

-- serves Claim: the running rows of a group
CREATE INDEX CASES_GROUP ON CASES (CASE_ID, UNTIL_AT, ALONE) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Claim: who is before a row in its group
CREATE INDEX CASES_LINE ON CASES (CASE_ID, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
