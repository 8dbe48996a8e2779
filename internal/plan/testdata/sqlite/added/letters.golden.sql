-- Package lettersq uses the table letters as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- Besides the queue's own rows it writes pages (Enqueue, Purge); totals (Enqueue); letters (Enqueue); journal (Purge), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates letters_ready and letters_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, lease_till, address, cause;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
WHERE  id = (
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           ORDER  BY id
           LIMIT  1)
RETURNING id, lease_till, address, cause;

-- sql/complete.sql
-- complete: running to done
-- fence: lease_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LeaseTill
UPDATE /* lettersq.Complete */ letters
SET    state = 'sent',
       lease_till = NULL,
       ended = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS lease_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(lease_till = lease_till_held
      AND    state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: lease_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch_all ID LeaseTill
UPDATE /* lettersq.Fail */ letters
SET    state = 'error',
       lease_till = NULL,
       ended = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER),
       cause = ?1
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS lease_till_held
           FROM   json_each(?2)
       ) AS job
WHERE  id = id_held
AND    +(lease_till = lease_till_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lease_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LeaseTill
UPDATE /* lettersq.Requeue */ letters
SET    state = 'new',
       lease_till = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS lease_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(lease_till = lease_till_held
      AND    state = 'busy')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lease_till as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID LeaseTill
UPDATE /* lettersq.Extend */ letters
SET    lease_till = CAST((julianday('now') - 2440587.5) * 86400000 + 300 * 1000 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS lease_till_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(lease_till = lease_till_held
      AND    state = 'busy')
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (lease_till) WHERE state = 'busy'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ letters
SET    state = 'new',
       lease_till = NULL
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'busy'
           AND    lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new',
       lease_till = NULL,
       ended = NULL
WHERE  id IN (
           SELECT id
           FROM   letters
           WHERE  state = 'error'
           LIMIT  ?1);

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'sent' would find them
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'sent'
AND    ended <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
LIMIT  ?2;

-- sql/purge_done_delete_pages.sql
-- purge_done: deletes rows from pages for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of pages one that begins with letter_id
-- arguments: 1: batch_all ID
DELETE /* lettersq.Purge */ FROM pages
WHERE  letter_id IN (
SELECT held.id
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)));

-- sql/purge_done_insert_journal.sql
-- purge_done: inserts rows into journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.cause is not null));

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'sent')
RETURNING id;

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'error' would find them
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'error'
AND    ended <= CAST((julianday('now') - 2440587.5) * 86400000 - ?1 * 1000 AS INTEGER)
LIMIT  ?2;

-- sql/purge_failed_delete_pages.sql
-- purge_failed: deletes rows from pages for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of pages one that begins with letter_id
-- arguments: 1: batch_all ID
DELETE /* lettersq.Purge */ FROM pages
WHERE  letter_id IN (
SELECT held.id
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1)));

-- sql/purge_failed_insert_journal.sql
-- purge_failed: inserts rows into journal for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.cause is not null));

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'error')
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* lettersq.Reserve */ FROM letters
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Address
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Address
INSERT /* lettersq.EnqueueMany */ INTO letters
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

-- sql/enqueue_insert_pages.sql
-- enqueue: inserts rows into pages for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* lettersq.Enqueue */ INTO pages
       (letter_id, place)
SELECT held.id, 1
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with address
-- arguments: 1: batch_all ID
UPDATE /* lettersq.Enqueue */ totals
SET    letters = (totals.letters + shared.jobs),
       last_at = CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)
FROM   (
       SELECT held.address AS of_address,
              count(*) AS jobs
       FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
       GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/enqueue_insert_letters.sql
-- enqueue: inserts rows into letters for the rows that were added
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
SELECT 'second'
FROM   letters AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +((held.address = 'both'));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'error') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND lease_till <= CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)) AS expired
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
       id, address, cause
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
           ('state', 'TEXT'),
           ('lease_till', 'INTEGER'),
           ('ended', 'INTEGER'),
           ('address', 'TEXT'),
           ('cause', 'TEXT')
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
-- verify: columns of pages
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('letter_id', 'INTEGER'),
           ('place', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('pages') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of totals
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('letters', 'INTEGER'),
           ('last_at', 'INTEGER'),
           ('address', 'TEXT')
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

-- sql/verify_columns_also3.sql
-- verify: columns of journal
-- locks: none
WITH /* lettersq.Verify */ want (name, type) AS (
    VALUES ('what', 'TEXT'),
           ('id', 'INTEGER'),
           ('address', 'TEXT'),
           ('ended', 'INTEGER')
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* lettersq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('letters_ready', 'id', 'id', 'state=''new'''),
           ('letters_expired', 'lease_till', 'lease_till', 'state=''busy''')
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

-- serves Recover: claims that ran out
CREATE INDEX letters_expired ON letters (lease_till)
WHERE  state = 'busy';
