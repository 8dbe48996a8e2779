-- Package journalq uses the table journal as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes rows of other jobs (Complete); tags (Complete), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates journal_ready and journal_others.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE holder IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* journalq.Claim */ journal
SET    holder = ?1
WHERE  id IN (
           SELECT id
           FROM   journal
           WHERE  holder IS NULL
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, ident, holder, weight;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE holder IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* journalq.Claim */ journal
SET    holder = ?1
WHERE  id = (
           SELECT id
           FROM   journal
           WHERE  holder IS NULL
           ORDER  BY id
           LIMIT  1)
RETURNING id, ident, holder, weight;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
SELECT /* journalq.Complete */
       id
FROM   journal
WHERE  (id, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1))
AND    +(holder IS NOT NULL);

-- sql/complete_delete_journal.sql
-- complete: deletes rows from journal for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the database for writing, while the statement runs
-- index: the key; of the other rows (ident)
-- arguments: 1: batch_all ID Holder
DELETE /* journalq.Complete */ FROM journal
WHERE  ident IN (
SELECT held.ident
FROM   journal AS held
WHERE  (held.id, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)))
AND    EXISTS (
SELECT 1
FROM   journal AS held
WHERE  (held.id, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1))
AND    +(journal.ident = held.ident
      AND    (journal.id <= held.id)))
AND    journal.holder IS NULL
AND    NOT EXISTS (SELECT 1 FROM (SELECT json_extract(value, '$[0]') AS id_held, json_extract(value, '$[1]') AS holder_held FROM json_each(?1)) AS job WHERE journal.id = id_held);

-- sql/complete_update_tags.sql
-- complete: updates rows of tags for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of tags one that begins with ident
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Complete */ tags
SET    seen = 1
FROM   journal AS held
WHERE  (held.id, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1))
AND    +((tags.lowest between 1 and held.weight))
AND    tags.ident = held.ident;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
DELETE /* journalq.Complete */ FROM journal
WHERE  (id, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1))
AND    +(holder IS NOT NULL)
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Fail */ journal
SET    holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    holder IS NOT NULL)
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Holder
UPDATE /* journalq.Requeue */ journal
SET    holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(holder = holder_held
      AND    holder IS NOT NULL)
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* journalq.Reserve */ FROM journal
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Ident, 2: new Weight
INSERT /* journalq.Enqueue */ INTO journal
       (ident, weight)
VALUES (?1, coalesce(?2, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Ident Weight
INSERT /* journalq.EnqueueMany */ INTO journal
       (ident, weight)
SELECT ident_new, coalesce(weight_new, 0)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS ident_new,
                  json_extract(value, '$[1]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* journalq.Stats */
       count(*) FILTER (WHERE holder IS NULL) AS ready,
       count(*) FILTER (WHERE holder IS NOT NULL) AS running
FROM   journal;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE holder IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* journalq.Peek */
       id, ident, weight
FROM   journal
WHERE  holder IS NULL
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* journalq.Verify */
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
WITH /* journalq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('ident', 'text'),
           ('holder', 'text'),
           ('weight', 'int')
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

-- sql/verify_columns_also.sql
-- verify: columns of tags
-- locks: none
WITH /* journalq.Verify */ want (name, type) AS (
    VALUES ('seen', 'int'),
           ('ident', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tags') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* journalq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('journal_ready', 'id', 'id', 'holderisnull'),
           ('journal_others', 'ident', 'ident', '')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('journal') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX journal_ready ON journal (id)
WHERE  holder IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- finds the rows of other jobs that a step writes
CREATE INDEX journal_others ON journal (ident);
