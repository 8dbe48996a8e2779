-- Package eventsq uses the table events as a queue of jobs on SQLite 3.38 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Rows must appear in the order of id: one at a time may add rows. A row that appears behind the mark is never read.
--
-- Before the package is used, schema/offset.sql creates the table events_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         SQLite locks the whole database, not rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
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
       turn,
       CASE WHEN token IS NULL OR lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) THEN 1 ELSE 0 END,
       mark_id
FROM   events_offset
WHERE  consumer_group = ?1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the database for writing, while the statement runs
-- arguments: 1: local
INSERT /* eventsq.Claim */ OR IGNORE INTO events_offset
       (consumer_group, turn)
VALUES (?1, 0);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* eventsq.Claim */
       id, address
FROM   events
ORDER  BY id
LIMIT  ?1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- arguments: 1: new ID, 2: limit
SELECT /* eventsq.Claim */
       id, address
FROM   events
WHERE  id > ?1
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ events_offset
SET    token = ?1,
       worker = ?2,
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + ?3 * 1000 AS INTEGER),
       passed = 0,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?4
AND    turn = ?5;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = ?1,
       passed = ?2,
       token = ?3,
       turn = turn + 1
WHERE  consumer_group = ?4
AND    token = ?5
AND    passed = ?6
AND    finished IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Complete */ events_offset
SET    turn = turn + 1
WHERE  consumer_group = ?1
AND    token = ?2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* eventsq.Complete */
       passed, finished
FROM   events_offset
WHERE  consumer_group = ?1
AND    token = ?2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = ?1,
       passed = ?2,
       finished = ?3,
       token = ?4
WHERE  consumer_group = ?5
AND    token = ?6;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: local, 3: local
UPDATE /* eventsq.Complete */ events_offset
SET    finished = ?1
WHERE  consumer_group = ?2
AND    token = ?3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Requeue */ events_offset
SET    token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?1
AND    token = ?2;

-- sql/extend.sql
-- extend: the lease of the claim begins anew
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: lease, 2: local, 3: local
UPDATE /* eventsq.Extend */ events_offset
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       turn = turn + 1
WHERE  consumer_group = ?2
AND    token = ?3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the database for writing, while the statement runs
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ events_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Address
INSERT /* eventsq.Enqueue */ INTO events
       (address)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Address
INSERT /* eventsq.EnqueueMany */ INTO events
       (address)
SELECT address_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS address_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* eventsq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'event', held.id, held.address
FROM   events AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       consumer_group,
       CASE WHEN events_offset.mark_id IS NULL THEN (SELECT count(*) FROM events) ELSE (SELECT count(*) FROM events WHERE events.id > events_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) THEN 0 ELSE 1 END
FROM   events_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* eventsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('events') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
WITH /* eventsq.Verify */ want (name, type) AS (
    VALUES ('what', 'TEXT'),
           ('id', 'INTEGER'),
           ('address', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('journal') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_offset.sql
-- verify: columns of events_offset
-- locks: none
WITH /* eventsq.Verify */ want (name, type) AS (
    VALUES ('consumer_group', 'TEXT'),
           ('mark_id', 'integer'),
           ('token', 'TEXT'),
           ('worker', 'TEXT'),
           ('lease_till', 'INTEGER'),
           ('passed', 'INTEGER'),
           ('finished', 'TEXT'),
           ('turn', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('events_offset') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
