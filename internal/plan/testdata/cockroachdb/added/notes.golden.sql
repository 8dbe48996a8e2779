-- Package notesq uses the table notes as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Claims are rows of the table notes_lease, which schema/lease.sql creates. Whoever deletes a row by hand deletes its claim, too, or leaves that to Recover.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: rows are taken as they came, by column "id"
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running, by a row of notes_lease for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (id)
-- arguments: 1: limit, 2: token Token, 3: worker Worker
WITH /* notesq.Claim */ picked AS MATERIALIZED (
    SELECT id, address
    FROM   notes
    WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= now()))
    ORDER  BY id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO notes_lease
           (id, token, worker, claimed_until, attempts)
    SELECT picked.id, $2::bpchar, $3::text, now() + interval '5 minutes', 1
    FROM   picked
    ON     CONFLICT (id) DO UPDATE
    SET    token = $2,
           worker = $3,
           claimed_until = now() + interval '5 minutes',
           attempts = notes_lease.attempts + 1
    WHERE  notes_lease.failed_at IS NULL
    AND    notes_lease.claimed_until <= now()
    RETURNING notes_lease.id, notes_lease.token, notes_lease.claimed_until,
              notes_lease.attempts, notes_lease.error
)
SELECT picked.id, picked.address, leased.token, leased.claimed_until, leased.attempts,
       leased.error
FROM   leased
       JOIN picked
       ON  leased.id = picked.id;

-- sql/complete.sql
-- complete: running to done
-- fence: token as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- arguments: 1: batch ID, 2: batch Token
WITH /* notesq.Complete */ picked AS MATERIALIZED (
    SELECT notes.id, id_held, token_held
    FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
           JOIN notes
           ON  notes.id = id_held
    FOR    UPDATE OF notes
), leased AS (
    DELETE FROM notes_lease
    USING  picked
    WHERE  notes_lease.id = ANY ($1::bigint[])
    AND    notes_lease.id = picked.id
    AND    CASE WHEN notes_lease.token = picked.token_held
                AND    notes_lease.failed_at IS NULL THEN true END
    RETURNING notes_lease.id
)
DELETE FROM notes
USING  leased
WHERE  leased.id = notes.id
RETURNING notes.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: error, 3: batch ID, 4: batch Token
UPDATE /* notesq.Fail */ notes_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + $1::float8 * interval '1 second',
       error = $2
FROM   unnest($3::bigint[], $4::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($3::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)) THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch ID, 3: batch Token
UPDATE /* notesq.Requeue */ notes_lease
SET    token = NULL,
       worker = NULL,
       claimed_until = now() + $1::float8 * interval '1 second',
       attempts = attempts - 1
FROM   unnest($2::bigint[], $3::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($2::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)) THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: token as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Token
UPDATE /* notesq.Extend */ notes_lease
SET    claimed_until = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::bpchar[]) AS job (id_held, token_held)
WHERE  id = ANY ($1::bigint[])
AND    id = id_held
AND    CASE WHEN token = token_held
            AND    failed_at IS NULL
            AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id)) THEN true END
RETURNING id, claimed_until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: notes_lease_expired (failed_at NULLS LAST, claimed_until); it reads others as well
-- arguments: 1: limit
UPDATE /* notesq.Recover */ notes_lease
SET    token = NULL,
       worker = NULL
WHERE  failed_at IS NULL
AND    token IS NOT NULL
AND    (EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
AND    claimed_until <= now()
LIMIT  $1;

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
DELETE /* notesq.Recover */ FROM notes_lease
WHERE  (NOT EXISTS (SELECT 1 FROM notes WHERE notes_lease.id = notes.id))
AND    claimed_until <= now()
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* notesq.Enqueue */ INTO notes
       (address)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Address
INSERT /* notesq.EnqueueMany */ INTO notes
       (address)
SELECT address_new
FROM   unnest($1::varchar[]) WITH ORDINALITY AS job (address_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* notesq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'note', held.id, held.address
FROM   notes AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(*) FILTER (WHERE (notes_lease.id IS NULL OR notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= now())) AS ready,
       count(*) FILTER (WHERE notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until > now()) AS running,
       count(*) FILTER (WHERE notes_lease.token IS NULL AND notes_lease.claimed_until > now()) AS delayed,
       count(*) FILTER (WHERE notes_lease.failed_at IS NULL AND notes_lease.token IS NOT NULL AND notes_lease.claimed_until <= now()) AS expired
FROM   notes LEFT JOIN notes_lease ON notes_lease.id = notes.id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* notesq.Peek */
       id, address
FROM   notes
WHERE  NOT EXISTS (SELECT 1 FROM notes_lease WHERE notes_lease.id = notes.id AND NOT (notes_lease.failed_at IS NULL AND notes_lease.claimed_until <= now()))
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('notes')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('what', 'varchar'),
               ('id', 'bigint'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of notes_lease
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('token', 'char'),
               ('worker', 'text'),
               ('claimed_until', 'timestamptz'),
               ('attempts', 'bigint'),
               ('error', 'text'),
               ('failed_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('notes_lease')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* notesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('notes_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('notes')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: notes_pkey serves already
