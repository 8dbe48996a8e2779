-- Package foundq uses the table MAIL.FOUND as a queue of jobs on Oracle 19 and later.
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
-- Of the jobs that are alike in Region and NO, at most 3 run at once; a claim locks the row of SHOP.REGIONS that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED, since at another level the rows would be counted as they were when it began. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates FOUND_READY and FOUND_GROUP and FOUND_LINE.
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
-- note: a row whose column "OTHER" is null is taken by no claim; any=null lets it suit everyone
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for Region and NO has it read rows of one group alone
-- note: rows without a value in column "PICKED" stand first in the order, where Oracle puts nulls (nulls=last puts them last)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it finds, and the row of SHOP.REGIONS for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (PICKED DESC, ID, OTHER)
-- arguments: 1: param_list other []string, 2: param_list other []string, 3: limit, 4: param_list other []string, 5: worker FoundRow, 6: cursor
DECLARE /* foundq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(FOUND FOUND_READY) */ ROWIDTOCHAR(ROWID)
        FROM   MAIL.FOUND
        WHERE  (HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR HELD IS NULL)
        AND    OTHER IN (:v0)
        AND    (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    other_rows.HELD IS NOT NULL
               AND    other_rows.HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
               AND    ROWNUM <= 3) < 3
        AND    3 > (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    other_rows.HELD IS NOT NULL
               AND    other_rows.HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE))
           + (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    (other_rows.HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR other_rows.HELD IS NULL)
               AND    other_rows.OTHER IN (:v0)
               AND    ((other_rows.PICKED > FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NOT NULL) OR (other_rows.PICKED = FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NULL) AND other_rows.ID < FOUND.ID)
               AND    ROWNUM <= 3)
        ORDER  BY PICKED DESC, ID
        FOR    UPDATE SKIP LOCKED;
    found_rows SYS.ODCIVARCHAR2LIST;
    held_rows SYS.ODCIVARCHAR2LIST := SYS.ODCIVARCHAR2LIST();
    picked_rows SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO found_rows LIMIT :3;
    CLOSE candidate;
    FOR found_row_rows IN (
        SELECT ROWIDTOCHAR(ROWID) AS place_rows, "Region", NO
        FROM   MAIL.FOUND
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(found_rows))
    ) LOOP
        FOR i_rows IN (
            SELECT 1
            FROM   SHOP.REGIONS
            WHERE  region = found_row_rows."Region" AND no = mod(found_row_rows.no, 64)
            FOR    UPDATE SKIP LOCKED
        ) LOOP
            held_rows.EXTEND;
            held_rows(held_rows.COUNT) := found_row_rows.place_rows;
        END LOOP;
    END LOOP;
    SELECT ROWIDTOCHAR(ROWID)
    BULK   COLLECT INTO picked_rows
    FROM   MAIL.FOUND
    WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(held_rows))
    AND    3 > (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    other_rows.HELD IS NOT NULL
               AND    other_rows.HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE))
           + (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    (other_rows.HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR other_rows.HELD IS NULL)
               AND    other_rows.OTHER IN (:v0)
               AND    ((other_rows.PICKED > FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NOT NULL) OR (other_rows.PICKED = FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NULL) AND other_rows.ID < FOUND.ID)
               AND    ROWNUM <= 3);
    FORALL i_rows IN 1 .. picked_rows.COUNT
        UPDATE MAIL.FOUND
        SET    HELD = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + 300 / 86400,
               FOUND_ROW = :5,
               PLACE = PLACE + 1
        WHERE  ROWID = CHARTOROWID(picked_rows(i_rows));
    OPEN :6 FOR
        SELECT ID, "Region", NO, TO_CHAR(HELD, 'YYYY-MM-DD HH24:MI:SS'), PLACE, PICKED,
               OTHER
        FROM   MAIL.FOUND
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked_rows));
END;

-- sql/complete.sql
-- complete: running to done
-- fence: PLACE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Place, 3: counts
DECLARE /* foundq.Complete */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PLACE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i_rows IN 1 .. ID_HELD.COUNT
        DELETE FROM MAIL.FOUND
        WHERE  ID = ID_HELD(i_rows)
        AND    PLACE = PLACE_HELD(i_rows)
        AND    HELD IS NOT NULL;
    FOR i_rows IN 1 .. ID_HELD.COUNT LOOP
        changed(i_rows) := SQL%BULK_ROWCOUNT(i_rows);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- fence: PLACE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Place, 3: counts
DECLARE /* foundq.Fail */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PLACE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i_rows IN 1 .. ID_HELD.COUNT
        UPDATE MAIL.FOUND
        SET    HELD = NULL,
               FOUND_ROW = NULL,
               PLACE = PLACE + 1
        WHERE  ID = ID_HELD(i_rows)
        AND    PLACE = PLACE_HELD(i_rows)
        AND    HELD IS NOT NULL;
    FOR i_rows IN 1 .. ID_HELD.COUNT LOOP
        changed(i_rows) := SQL%BULK_ROWCOUNT(i_rows);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: PLACE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Place, 3: counts
DECLARE /* foundq.Requeue */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PLACE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i_rows IN 1 .. ID_HELD.COUNT
        UPDATE MAIL.FOUND
        SET    HELD = NULL,
               FOUND_ROW = NULL,
               PLACE = PLACE + 1
        WHERE  ID = ID_HELD(i_rows)
        AND    PLACE = PLACE_HELD(i_rows)
        AND    HELD IS NOT NULL;
    FOR i_rows IN 1 .. ID_HELD.COUNT LOOP
        changed(i_rows) := SQL%BULK_ROWCOUNT(i_rows);
    END LOOP;
    :3 := changed;
END;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: PLACE as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID, 2: batch Place, 3: counts
DECLARE /* foundq.Extend */
    ID_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PLACE_HELD DBMS_SQL.NUMBER_TABLE := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i_rows IN 1 .. ID_HELD.COUNT
        UPDATE MAIL.FOUND
        SET    HELD = CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) + 300 / 86400,
               PLACE = PLACE + 1
        WHERE  ID = ID_HELD(i_rows)
        AND    PLACE = PLACE_HELD(i_rows)
        AND    HELD IS NOT NULL;
    FOR i_rows IN 1 .. ID_HELD.COUNT LOOP
        changed(i_rows) := SQL%BULK_ROWCOUNT(i_rows);
    END LOOP;
    :3 := changed;
END;

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- arguments: 1: list ID
SELECT /* foundq.Extend */
       ID, TO_CHAR(HELD, 'YYYY-MM-DD HH24:MI:SS'), PLACE
FROM   MAIL.FOUND
WHERE  (ID = :v0);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Region, 3: new No, 4: new Picked, 5: new Other
INSERT /* foundq.Enqueue */ INTO MAIL.FOUND
       (ID, "Region", NO, PICKED, OTHER)
VALUES (:1, :2, :3, :4, :5);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* foundq.Stats */
       count(CASE WHEN (HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR HELD IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN HELD IS NOT NULL AND HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS RUNNING,
       count(CASE WHEN HELD IS NOT NULL AND HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS EXPIRED
FROM   MAIL.FOUND;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same OTHER is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param_list other []string
SELECT /* foundq.StatsOf */
       count(CASE WHEN (HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR HELD IS NULL) THEN 1 END) AS READY,
       count(CASE WHEN HELD IS NOT NULL AND HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS RUNNING,
       count(CASE WHEN HELD IS NOT NULL AND HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) THEN 1 END) AS EXPIRED
FROM   MAIL.FOUND
WHERE  OTHER IN (:v0);

-- sql/backlog.sql
-- backlog: counts the rows that wait, by OTHER
-- locks: none
-- index: none; it reads the whole table
SELECT /* foundq.Backlog */
       OTHER,
       count(*) AS READY
FROM   MAIL.FOUND
WHERE  (HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR HELD IS NULL)
GROUP  BY OTHER
ORDER  BY OTHER;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (PICKED DESC, ID, OTHER)
-- arguments: 1: param_list other []string, 2: param_list other []string, 3: limit
SELECT /* foundq.Peek */
       *
FROM   (
           SELECT ID, "Region", NO, PLACE, PICKED, OTHER
           FROM   MAIL.FOUND
           WHERE  (HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR HELD IS NULL)
           AND    OTHER IN (:v0)
           AND    (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    other_rows.HELD IS NOT NULL
               AND    other_rows.HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE)
               AND    ROWNUM <= 3) < 3
           AND    3 > (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    other_rows.HELD IS NOT NULL
               AND    other_rows.HELD > CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE))
           + (SELECT count(*)
               FROM   MAIL.FOUND other_rows
               WHERE  other_rows."Region" = FOUND."Region"
               AND    other_rows.NO = FOUND.NO
               AND    (other_rows.HELD <= CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) OR other_rows.HELD IS NULL)
               AND    other_rows.OTHER IN (:v0)
               AND    ((other_rows.PICKED > FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NOT NULL) OR (other_rows.PICKED = FOUND.PICKED OR other_rows.PICKED IS NULL AND FOUND.PICKED IS NULL) AND other_rows.ID < FOUND.ID)
               AND    ROWNUM <= 3)
           ORDER  BY PICKED DESC, ID
       )
WHERE  ROWNUM <= :3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* foundq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* foundq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'Region', 'nvarchar2' FROM DUAL UNION ALL
           SELECT 'NO', 'number' FROM DUAL UNION ALL
           SELECT 'HELD', 'date' FROM DUAL UNION ALL
           SELECT 'FOUND_ROW', 'varchar2' FROM DUAL UNION ALL
           SELECT 'PLACE', 'number' FROM DUAL UNION ALL
           SELECT 'PICKED', 'number' FROM DUAL UNION ALL
           SELECT 'OTHER', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = 'MAIL'
       AND have.table_name = 'FOUND'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* foundq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'FOUND_READY' AS name FROM DUAL UNION ALL
           SELECT 'FOUND_GROUP' FROM DUAL UNION ALL
           SELECT 'FOUND_LINE' FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = 'MAIL'
           AND    have.table_name = 'FOUND'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows of another OTHER are passed over in it
CREATE INDEX FOUND_READY ON MAIL.FOUND (PICKED DESC, ID, OTHER) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Claim: the running rows of a group
CREATE INDEX FOUND_GROUP ON MAIL.FOUND ("Region", NO, HELD) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.

-- serves Claim: who is before a row in its group
CREATE INDEX FOUND_LINE ON MAIL.FOUND ("Region", NO, PICKED DESC, ID) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
