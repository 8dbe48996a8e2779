-- Package lettersq uses the table letters as a queue of jobs on CockroachDB 25.2 and later.
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
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
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
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE state = 'new'
-- arguments: 1: low, 2: limit
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       lease_till = now() + interval '5 minutes'
WHERE  state = 'new'
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, lease_till, address, cause;

-- sql/complete.sql
-- complete: running to done
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch LeaseTill
UPDATE /* lettersq.Complete */ letters
SET    state = 'sent',
       lease_till = NULL,
       ended = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, lease_till_held)
WHERE  id = id_held
AND    CASE WHEN lease_till = lease_till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: error, 2: batch ID, 3: batch LeaseTill
UPDATE /* lettersq.Fail */ letters
SET    state = 'error',
       lease_till = NULL,
       ended = now(),
       cause = $1
FROM   unnest($2::bigint[], $3::timestamptz[]) AS job (id_held, lease_till_held)
WHERE  id = id_held
AND    CASE WHEN lease_till = lease_till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch LeaseTill
UPDATE /* lettersq.Requeue */ letters
SET    state = 'new',
       lease_till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, lease_till_held)
WHERE  id = id_held
AND    CASE WHEN lease_till = lease_till_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: lease_till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch LeaseTill
UPDATE /* lettersq.Extend */ letters
SET    lease_till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, lease_till_held)
WHERE  id = id_held
AND    CASE WHEN lease_till = lease_till_held
            AND    state = 'busy' THEN true END
RETURNING id, lease_till;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (lease_till) WHERE state = 'busy'
-- arguments: 1: limit
UPDATE /* lettersq.Recover */ letters
SET    state = 'new',
       lease_till = NULL
WHERE  state = 'busy'
AND    lease_till <= now()
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new',
       lease_till = NULL,
       ended = NULL
WHERE  state = 'error'
LIMIT  $1;

-- sql/purge_done_lock.sql
-- purge_done: locks rows, which purge_done.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'sent' would find them
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'sent'
AND    ended <= now() - $1::float8 * interval '1 second'
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/purge_done_delete_pages.sql
-- purge_done: deletes rows from pages for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- arguments: 1: batch ID
DELETE /* lettersq.Purge */ FROM pages
USING  letters AS held
WHERE  held.id = ANY ($1::bigint[])
AND    pages.letter_id = held.id;

-- sql/purge_done_insert_journal.sql
-- purge_done: inserts rows into journal for the rows that purge_done_lock.sql locked, before purge_done.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (held.cause is not null) THEN true END;

-- sql/purge_done.sql
-- purge_done: done to gone, of the rows that purge_done_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'sent' THEN true END
RETURNING id;

-- sql/purge_failed_lock.sql
-- purge_failed: locks rows, which purge_failed.sql then writes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (ended) WHERE state = 'error' would find them
-- arguments: 1: older, 2: limit
SELECT /* lettersq.Purge */
       id
FROM   letters
WHERE  state = 'error'
AND    ended <= now() - $1::float8 * interval '1 second'
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/purge_failed_delete_pages.sql
-- purge_failed: deletes rows from pages for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key; of pages one that begins with letter_id
-- arguments: 1: batch ID
DELETE /* lettersq.Purge */ FROM pages
USING  letters AS held
WHERE  held.id = ANY ($1::bigint[])
AND    pages.letter_id = held.id;

-- sql/purge_failed_insert_journal.sql
-- purge_failed: inserts rows into journal for the rows that purge_failed_lock.sql locked, before purge_failed.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* lettersq.Purge */ INTO journal
       (what, id, address, ended)
SELECT held.state, held.id, held.address, held.ended
FROM   letters AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (held.cause is not null) THEN true END;

-- sql/purge_failed.sql
-- purge_failed: failed to gone, of the rows that purge_failed_lock.sql locked
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'error' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Address
INSERT /* lettersq.EnqueueMany */ INTO letters
       (address)
SELECT address_new
FROM   unnest($1::varchar[]) WITH ORDINALITY AS job (address_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_pages.sql
-- enqueue: inserts rows into pages for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* lettersq.Enqueue */ INTO pages
       (letter_id, place)
SELECT held.id, 1
FROM   letters AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- arguments: 1: batch ID
UPDATE /* lettersq.Enqueue */ totals
SET    letters = (totals.letters + shared.jobs),
       last_at = now()
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   letters AS held
           WHERE  held.id = ANY ($1::bigint[])
           GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/enqueue_insert_letters.sql
-- enqueue: inserts rows into letters for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* lettersq.Enqueue */ INTO letters
       (address)
SELECT 'second'
FROM   letters AS held
WHERE  held.id = ANY ($1::bigint[])
AND    CASE WHEN (held.address = 'both') THEN true END;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'error') AS failed,
       count(*) FILTER (WHERE state = 'busy' AND lease_till <= now()) AS expired
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
-- index: (id) WHERE state = 'new'
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, address, cause
FROM   letters
WHERE  state = 'new'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'varchar'),
               ('lease_till', 'timestamptz'),
               ('ended', 'timestamptz'),
               ('address', 'varchar'),
               ('cause', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('letters')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of pages
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('letter_id', 'bigint'),
               ('place', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('pages')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of totals
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('letters', 'bigint'),
               ('last_at', 'timestamptz'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('totals')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also3.sql
-- verify: columns of journal
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('what', 'varchar'),
               ('id', 'bigint'),
               ('address', 'varchar'),
               ('ended', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('letters_ready'),
               ('letters_expired')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('letters')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX letters_ready ON letters (id)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX letters_expired ON letters (lease_till)
WHERE  state = 'busy';
