-- Package visitsq uses the table visits as a queue of jobs on SQLite 3.38 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table visits_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- Rows must appear in the order of id: one at a time may add rows. A row that appears behind the mark is never read.
--
-- Before the package is used, schema/offset.sql creates the table visits_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table visits_offset keeps
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
-- note: enqueue=absent leaves a job out where a row is like it in mark (unique key sqlite_autoindex_visits_1)

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* visitsq.Claim */
       turn,
       CASE WHEN token IS NULL OR lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) THEN 1 ELSE 0 END,
       mark_id
FROM   visits_offset
WHERE  consumer_group = ?1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the database for writing, while the statement runs
-- arguments: 1: local
INSERT /* visitsq.Claim */ OR IGNORE INTO visits_offset
       (consumer_group, turn)
VALUES (?1, 0);

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* visitsq.Claim */
       id, mark
FROM   visits
ORDER  BY id
LIMIT  ?1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- arguments: 1: new ID, 2: limit
SELECT /* visitsq.Claim */
       id, mark
FROM   visits
WHERE  id > ?1
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* visitsq.Claim */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
SET    turn = turn + 1
WHERE  consumer_group = ?1
AND    token = ?2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* visitsq.Complete */
       passed, finished
FROM   visits_offset
WHERE  consumer_group = ?1
AND    token = ?2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* visitsq.Complete */ visits_offset
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
UPDATE /* visitsq.Complete */ visits_offset
SET    finished = ?1
WHERE  consumer_group = ?2
AND    token = ?3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the database for writing, while the statement runs
-- arguments: 1: local, 2: local
UPDATE /* visitsq.Requeue */ visits_offset
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
UPDATE /* visitsq.Extend */ visits_offset
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + ?1 * 1000 AS INTEGER),
       turn = turn + 1
WHERE  consumer_group = ?2
AND    token = ?3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the database for writing, while the statement runs
-- arguments: 1: local
UPDATE /* visitsq.Rewind */ visits_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = ?1;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it returns none
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Mark
INSERT /* visitsq.Enqueue */ INTO visits
       (mark)
VALUES (?1)
ON     CONFLICT DO NOTHING
RETURNING id;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* visitsq.Stats */
       consumer_group,
       CASE WHEN visits_offset.mark_id IS NULL THEN (SELECT count(*) FROM visits) ELSE (SELECT count(*) FROM visits WHERE visits.id > visits_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) THEN 0 ELSE 1 END
FROM   visits_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
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
WITH /* visitsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('mark', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('visits') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_offset.sql
-- verify: columns of visits_offset
-- locks: none
WITH /* visitsq.Verify */ want (name, type) AS (
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
LEFT   JOIN pragma_table_xinfo('visits_offset') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);
