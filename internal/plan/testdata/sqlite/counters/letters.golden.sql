-- Package lettersq uses the table letters as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- Besides the queue's own rows it writes totals (Enqueue, Claim, Complete, Fail, Requeue); workers (Complete); tries (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there. Purge removes nothing from other tables.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready.
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
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: warning: also: fail makes column "queued" of totals from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       tries = tries + 1,
       holder = ?1
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, address, weight, tries, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       tries = tries + 1,
       holder = ?1
WHERE  id = (
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  1)
RETURNING id, address, weight, tries, holder;

-- sql/claim_update_totals.sql
-- claim: updates rows of totals for the rows that were taken; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address, kind
-- arguments: 1: batch_all ID
UPDATE /* lettersq.Claim */ totals
SET    queued = (totals.queued - shared.jobs)
FROM   (
       SELECT held.address AS of_address,
              count(*) AS jobs
       FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address
AND    totals.kind = 'letter';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Complete */
       id
FROM   letters
WHERE  (id, tries, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ totals
SET    weight = (totals.weight - shared.sum_weight),
       queued = (totals.queued + 0 * shared.jobs)
FROM   (
       SELECT held.address AS of_address,
              sum(held.weight) AS sum_weight,
              count(*) AS jobs
       FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/complete_update_totals_2.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ totals
SET    last_id = held.id
FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    totals.address = held.address;

-- sql/complete_update_workers.sql
-- complete: updates rows of workers for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of workers one that begins with name
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ workers
SET    done = (done + 2 * shared.jobs)
FROM   (
       SELECT held.holder AS of_name,
              count(*) AS jobs
       FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
       GROUP  BY held.holder
       ) AS shared
WHERE  workers.name = shared.of_name;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Complete */ letters
SET    state = 'sent'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    holder = holder_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   letters
WHERE  (id, tries, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/retry_update_totals.sql
-- retry: updates rows of totals for the rows that retry_lock.sql locked, before retry.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ totals
SET    queued = (totals.queued + shared.jobs),
       weight = (coalesce(totals.weight, 0) + shared.sum_weight)
FROM   (
       SELECT held.address AS of_address,
              count(*) AS jobs,
              sum(-held.weight + 1) AS sum_weight
       FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/retry_update_tries.sql
-- retry: updates rows of tries for the rows that retry_lock.sql locked, before retry.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of tries one that begins with letter_id
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ tries
SET    n = (n + 1)
FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    tries.letter_id = held.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ letters
SET    state = 'new',
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    holder = holder_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Fail */
       id
FROM   letters
WHERE  (id, tries, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/fail_update_totals.sql
-- fail: updates rows of totals for the rows that fail_lock.sql locked, before fail.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ totals
SET    queued = ((totals.queued + 1) * 2)
FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    totals.address = held.address;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Fail */ letters
SET    state = 'lost'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    holder = holder_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
SELECT /* lettersq.Requeue */
       id
FROM   letters
WHERE  (id, tries, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    +(state = 'busy');

-- sql/requeue_update_totals.sql
-- requeue: updates rows of totals for the rows that requeue_lock.sql locked, before requeue.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Requeue */ totals
SET    queued = (totals.queued + shared.jobs)
FROM   (
       SELECT held.address AS of_address,
              count(*) AS jobs
       FROM   letters AS held
WHERE  (held.id, held.tries, held.holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Tries Holder
UPDATE /* lettersq.Requeue */ letters
SET    state = 'new',
       tries = tries - 1,
       holder = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS tries_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(tries = tries_held
      AND    holder = holder_held
      AND    state = 'busy')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new',
       tries = 0,
       holder = NULL
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'sent' would find them
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'sent'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'lost' would find them
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  ?1);

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* lettersq.Reserve */ FROM letters
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Address, 2: new Weight
INSERT /* lettersq.Enqueue */ INTO letters
       (address, weight)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Address Weight
INSERT /* lettersq.EnqueueMany */ INTO letters
       (address, weight)
SELECT address_new, weight_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS address_new,
                  json_extract(value, '$[1]') AS weight_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID
UPDATE /* lettersq.Enqueue */ totals
SET    queued = (queued + shared.jobs),
       weight = (totals.weight + shared.sum_weight)
FROM   (
       SELECT held.address AS of_address,
              count(*) AS jobs,
              sum(held.weight) AS sum_weight
       FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'lost') AS failed
FROM   letters;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'new'
SELECT /* lettersq.Backlog */
       count(*) AS ready
FROM   letters
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, address, weight, tries
FROM   letters
WHERE  state = 'new'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
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
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('address', 'text'),
           ('weight', 'integer'),
           ('state', 'text'),
           ('tries', 'integer'),
           ('holder', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('letters') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('queued', 'integer'),
           ('weight', 'integer'),
           ('address', 'text'),
           ('kind', 'text'),
           ('last_id', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('totals') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of workers
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('done', 'integer'),
           ('name', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('workers') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also3.sql
-- verify: columns of tries
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('n', 'integer'),
           ('letter_id', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('tries') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* lettersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('letters_ready', 'id', 'id', 'state=''new''')
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
    FROM   pragma_index_list('letters') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX letters_ready ON letters (id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
