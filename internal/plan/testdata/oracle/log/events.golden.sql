-- Package eventsq uses the table EVENTS as a queue of jobs on Oracle 19 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of ID: each group of consumers reads them behind its mark, which the table EVENTS_OFFSET keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in EVENTS_OFFSET is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when it was added 1 minute ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.
--
-- Before the package is used, schema/offset.sql creates the table EVENTS_OFFSET, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of ID: each group of consumers reads them behind its mark, which the table EVENTS_OFFSET keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         not needed: offset comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        the table has no running state that a claim could write
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* eventsq.Claim */
       TURN, CASE WHEN TOKEN IS NULL OR LEASE_TILL <= SYSTIMESTAMP THEN 1 ELSE 0 END,
       MARK_ID
FROM   EVENTS_OFFSET
WHERE  CONSUMER_GROUP = :1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local, 2: local
MERGE /* eventsq.Claim */ INTO EVENTS_OFFSET
USING DUAL
ON    (CONSUMER_GROUP = :1)
WHEN NOT MATCHED THEN INSERT (CONSUMER_GROUP, TURN)
VALUES (:2, 0);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: limit
SELECT /* eventsq.Claim */
       *
FROM   (
           SELECT CASE WHEN CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(60, 'SECOND') THEN 1 ELSE 0 END,
                  ID, KIND, TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), BODY
           FROM   EVENTS
           ORDER  BY ID
       )
WHERE  ROWNUM <= :1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (ID)
-- arguments: 1: new ID, 2: limit
SELECT /* eventsq.Claim */
       *
FROM   (
           SELECT CASE WHEN CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(60, 'SECOND') THEN 1 ELSE 0 END,
                  ID, KIND, TO_CHAR(CREATED_AT, 'YYYY-MM-DD HH24:MI:SS.FF9 TZH:TZM'), BODY
           FROM   EVENTS
           WHERE  ID > :1
           ORDER  BY ID
       )
WHERE  ROWNUM <= :2;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ EVENTS_OFFSET
SET    TOKEN = :1,
       WORKER = :2,
       LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(:3, 'SECOND'),
       PASSED = 0,
       FINISHED = NULL,
       TURN = TURN + 1
WHERE  CONSUMER_GROUP = :4
AND    TURN = :5;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ EVENTS_OFFSET
SET    MARK_ID = :1,
       PASSED = :2,
       TOKEN = :3,
       TURN = TURN + 1
WHERE  CONSUMER_GROUP = :4
AND    TOKEN = :5
AND    PASSED = :6
AND    FINISHED IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Complete */ EVENTS_OFFSET
SET    TURN = TURN + 1
WHERE  CONSUMER_GROUP = :1
AND    TOKEN = :2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* eventsq.Complete */
       PASSED, FINISHED
FROM   EVENTS_OFFSET
WHERE  CONSUMER_GROUP = :1
AND    TOKEN = :2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ EVENTS_OFFSET
SET    MARK_ID = :1,
       PASSED = :2,
       FINISHED = :3,
       TOKEN = :4
WHERE  CONSUMER_GROUP = :5
AND    TOKEN = :6;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local, 3: local
UPDATE /* eventsq.Complete */ EVENTS_OFFSET
SET    FINISHED = :1
WHERE  CONSUMER_GROUP = :2
AND    TOKEN = :3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Requeue */ EVENTS_OFFSET
SET    TOKEN = NULL,
       FINISHED = NULL,
       TURN = TURN + 1
WHERE  CONSUMER_GROUP = :1
AND    TOKEN = :2;

-- sql/extend.sql
-- extend: the lease of the claim begins anew
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: lease, 2: local, 3: local
UPDATE /* eventsq.Extend */ EVENTS_OFFSET
SET    LEASE_TILL = SYSTIMESTAMP + NUMTODSINTERVAL(:1, 'SECOND'),
       TURN = TURN + 1
WHERE  CONSUMER_GROUP = :2
AND    TOKEN = :3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ EVENTS_OFFSET
SET    MARK_ID = NULL,
       TOKEN = NULL,
       FINISHED = NULL,
       TURN = TURN + 1
WHERE  CONSUMER_GROUP = :1;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* eventsq.Purge */
       *
FROM   (
           SELECT MARK_ID
           FROM   EVENTS_OFFSET
           WHERE  NOT EXISTS (SELECT 1 FROM EVENTS_OFFSET WHERE MARK_ID IS NULL)
           ORDER  BY MARK_ID
       )
WHERE  ROWNUM <= 1;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; waits for rows that are locked
-- index: the primary key (ID)
-- arguments: 1: new ID, 2: older, 3: limit, 4: new ID, 5: older
DELETE /* eventsq.Purge */ FROM EVENTS
WHERE  ROWID IN (
           SELECT ROWID
           FROM   EVENTS
           WHERE  ID < :1
           AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:2, 'SECOND')
           AND    ROWNUM <= :3)
AND    ID < :4
AND    CREATED_AT <= SYSTIMESTAMP - NUMTODSINTERVAL(:5, 'SECOND');

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Kind, 2: new Body, 3: new_key
INSERT /* eventsq.Enqueue */ INTO EVENTS
       (KIND, CREATED_AT, BODY)
VALUES (:1, SYSTIMESTAMP, :2)
/* the new key */ RETURNING ID INTO :3;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       CONSUMER_GROUP,
       CASE WHEN EVENTS_OFFSET.MARK_ID IS NULL THEN (SELECT count(*) FROM EVENTS) ELSE (SELECT count(*) FROM EVENTS WHERE EVENTS.ID > EVENTS_OFFSET.MARK_ID) END,
       CASE WHEN TOKEN IS NULL OR LEASE_TILL <= SYSTIMESTAMP THEN 0 ELSE 1 END,
       (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC((CASE WHEN EVENTS_OFFSET.MARK_ID IS NULL THEN (SELECT min(EVENTS.CREATED_AT) FROM EVENTS) ELSE (SELECT min(EVENTS.CREATED_AT) FROM EVENTS WHERE EVENTS.ID > EVENTS_OFFSET.MARK_ID) END)) AS DATE)) * 86400
FROM   EVENTS_OFFSET;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is Oracle ' || have.version || ', the package needs 19'
FROM   PRODUCT_COMPONENT_VERSION have
WHERE  have.product LIKE 'Oracle%'
AND    TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 1)) * 100 + TO_NUMBER(REGEXP_SUBSTR(have.version, '[0-9]+', 1, 2)) < 1900;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'ID' AS name, 'number' AS type FROM DUAL UNION ALL
           SELECT 'KIND', 'varchar2' FROM DUAL UNION ALL
           SELECT 'CREATED_AT', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'BODY', 'clob' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVENTS'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;

-- sql/verify_offset.sql
-- verify: columns of EVENTS_OFFSET
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE ' is ' || LOWER(have.data_type) || ', not ' || want.type
       END
FROM   (
           SELECT 'CONSUMER_GROUP' AS name, 'varchar2' AS type FROM DUAL UNION ALL
           SELECT 'MARK_ID', 'number' FROM DUAL UNION ALL
           SELECT 'TOKEN', 'varchar2' FROM DUAL UNION ALL
           SELECT 'WORKER', 'varchar2' FROM DUAL UNION ALL
           SELECT 'LEASE_TILL', 'timestamp with time zone' FROM DUAL UNION ALL
           SELECT 'PASSED', 'number' FROM DUAL UNION ALL
           SELECT 'FINISHED', 'clob' FROM DUAL UNION ALL
           SELECT 'TURN', 'number' FROM DUAL
       ) want
LEFT   JOIN ALL_TAB_COLUMNS have
       ON  have.owner = SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')
       AND have.table_name = 'EVENTS_OFFSET'
       AND have.column_name = want.name
WHERE  have.column_name IS NULL
OR     REGEXP_REPLACE(LOWER(have.data_type), '[(][0-9]+[)]') <> want.type;
