-- Package pagesq uses the table PAGES as a queue of jobs on Oracle 19 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy block: a block fetches and so locks the first rows in queue order, passing over locked ones, and writes them.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes JOURNAL (Enqueue), each in the transaction of the operation. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates PAGES_READY.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, SITE, PATH
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=absent leaves a job out where a row is like it in SITE, PATH (primary key)

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (STATE, SITE, PATH)
-- arguments: 1: limit, 2: cursor
DECLARE /* pagesq.Claim */
    CURSOR candidate IS
        SELECT /*+ INDEX(PAGES PAGES_READY) */ ROWIDTOCHAR(ROWID)
        FROM   PAGES
        WHERE  STATE = 'new'
        ORDER  BY SITE, PATH
        FOR    UPDATE SKIP LOCKED;
    picked SYS.ODCIVARCHAR2LIST;
BEGIN
    OPEN candidate;
    FETCH candidate BULK COLLECT INTO picked LIMIT :1;
    CLOSE candidate;
    FORALL i IN 1 .. picked.COUNT
        UPDATE PAGES
        SET    STATE = 'busy'
        WHERE  ROWID = CHARTOROWID(picked(i));
    OPEN :2 FOR
        SELECT SITE, PATH
        FROM   PAGES
        WHERE  ROWID IN (SELECT CHARTOROWID(COLUMN_VALUE) FROM TABLE(picked));
END;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch Path, 3: counts
DECLARE /* pagesq.Complete */
    SITE_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PATH_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE PAGES
        SET    STATE = 'read'
        WHERE  SITE = SITE_HELD(i)
        AND    PATH = PATH_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. SITE_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch Path, 3: counts
DECLARE /* pagesq.Fail */
    SITE_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PATH_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE PAGES
        SET    STATE = 'new'
        WHERE  SITE = SITE_HELD(i)
        AND    PATH = PATH_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. SITE_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch Site, 2: batch Path, 3: counts
DECLARE /* pagesq.Requeue */
    SITE_HELD DBMS_SQL.NUMBER_TABLE := :1;
    PATH_HELD DBMS_SQL.VARCHAR2A := :2;
    changed DBMS_SQL.NUMBER_TABLE;
BEGIN
    FORALL i IN 1 .. SITE_HELD.COUNT
        UPDATE PAGES
        SET    STATE = 'new'
        WHERE  SITE = SITE_HELD(i)
        AND    PATH = PATH_HELD(i)
        AND    STATE = 'busy';
    FOR i IN 1 .. SITE_HELD.COUNT LOOP
        changed(i) := SQL%BULK_ROWCOUNT(i);
    END LOOP;
    :3 := changed;
END;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; waits for rows that are locked
-- index: (STATE, SITE, PATH)
-- arguments: 1: limit
DELETE /* pagesq.Purge */ FROM PAGES
WHERE  ROWID IN (
           SELECT ROWID
           FROM   PAGES
           WHERE  STATE = 'read'
           AND    ROWNUM <= :1)
AND    STATE = 'read';

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it fails with the error of that key, which is told from others
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new Site, 2: new Path
INSERT /* pagesq.Enqueue */ INTO PAGES
       (SITE, PATH)
VALUES (:1, :2);

-- sql/enqueue_find.sql
-- enqueue: finds the new rows by the keys that they were given, which a column may round or fill up
-- locks: none
-- index: the key
-- arguments: 1: list Site Path
SELECT /* pagesq.Enqueue */
       SITE, PATH
FROM   PAGES
WHERE  ((SITE = :v0 AND PATH = :v0));

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into JOURNAL for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: list Site Path
INSERT /* pagesq.Enqueue */ INTO JOURNAL
       (WHAT, SITE)
SELECT held.PATH, held.SITE
FROM   PAGES held
WHERE  ((held.SITE = :v0 AND held.PATH = :v0));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pagesq.Stats */
       count(CASE WHEN STATE = 'new' THEN 1 END) AS READY,
       count(CASE WHEN STATE = 'busy' THEN 1 END) AS RUNNING,
       count(CASE WHEN STATE = 'read' THEN 1 END) AS DONE
FROM   PAGES;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (STATE, SITE, PATH)
SELECT /* pagesq.Backlog */
       count(*) AS READY
FROM   PAGES
WHERE  STATE = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (STATE, SITE, PATH)
-- arguments: 1: limit
SELECT /* pagesq.Peek */
       *
FROM   (
           SELECT SITE, PATH
           FROM   PAGES
           WHERE  STATE = 'new'
           ORDER  BY SITE, PATH
       )
WHERE  ROWNUM <= :1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pagesq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'SITE' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'PATH', 'varchar2' FROM DUAL UNION ALL
           SELECT 'STATE', 'varchar2' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'PAGES'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_columns_also.sql
-- verify: columns of JOURNAL
-- locks: none
SELECT /* pagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'WHAT' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'SITE', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'JOURNAL'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pagesq.Verify */
       'index ' || want.name || ' is missing'
FROM   (
           SELECT 'PAGES_READY' AS name FROM DUAL
       ) want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   ALL_INDEXES have
           WHERE  have.table_owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
           AND    have.table_name = 'PAGES'
           AND    have.index_name = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX PAGES_READY ON PAGES (STATE, SITE, PATH) ONLINE;
-- ONLINE lets others write meanwhile. Standard Edition refuses it (ORA-00439): leave it out there.
