-- Package lettersq uses the table letters as a queue of jobs on PostgreSQL 15 and later.
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
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: tries are counted in column "tries" when they begin (on=claim)
-- note: warning: also: fail makes column "queued" of totals from what it holds, and of several jobs of one call that share the row it sees one only; each of them counts where a number, or columns of {row}, are added to it or taken from it
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low, 3: limit
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, address, weight, tries, holder;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, address, weight, tries, holder;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* lettersq.Claim */ letters
SET    state = 'busy',
       tries = tries + 1,
       holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, address, weight, tries, holder;

-- sql/claim_update_totals.sql
-- claim: updates rows of totals for the rows that were taken; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address, kind
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lettersq.Claim */ totals
SET    queued = (totals.queued - shared.jobs),
       taken_at = now()
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs
           FROM   letters AS held
           WHERE  held.id = ANY ($1::bigint[])
           GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address
AND    totals.kind = 'letter';

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: tries, holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
SELECT /* lettersq.Complete */
       id
FROM   letters,
       unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'busy' THEN true END
FOR    NO KEY UPDATE OF letters;

-- sql/complete_update_totals.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* lettersq.Complete */ totals
SET    weight = (totals.weight - shared.sum_weight),
       queued = (totals.queued + 0 * shared.jobs)
FROM   (
           SELECT held.address AS of_address,
                  sum(held.weight) AS sum_weight,
                  count(*) AS jobs
           FROM   letters AS held,
                  unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
           WHERE  held.id = id_held
           AND    CASE WHEN held.tries = tries_held
                       AND    held.holder = holder_held THEN true END
           GROUP  BY held.address
       ) AS shared
WHERE  totals.address = shared.of_address;

-- sql/complete_update_totals_2.sql
-- complete: updates rows of totals for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* lettersq.Complete */ totals
SET    last_id = held.id
FROM   letters AS held,
       unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  held.id = id_held
AND    CASE WHEN held.tries = tries_held
            AND    held.holder = holder_held THEN true END
AND    totals.address = held.address;

-- sql/complete_update_workers.sql
-- complete: updates rows of workers for the rows that complete_lock.sql locked, before complete.sql; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of workers one that begins with name
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* lettersq.Complete */ workers
SET    done = (done + 2 * shared.jobs)
FROM   (
           SELECT held.holder AS of_name,
                  count(*) AS jobs
           FROM   letters AS held,
                  unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
           WHERE  held.id = id_held
           AND    CASE WHEN held.tries = tries_held
                       AND    held.holder = holder_held THEN true END
           GROUP  BY held.holder
       ) AS shared
WHERE  workers.name = shared.of_name;

-- sql/complete.sql
-- complete: running to done
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
UPDATE /* lettersq.Complete */ letters
SET    state = 'sent'
FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    holder = holder_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used; changes rows of totals and tries
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of totals one that begins with address; of tries one that begins with letter_id
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
WITH /* lettersq.Fail */ held AS (
    UPDATE letters
    SET    state = 'new',
           holder = NULL
    FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
    WHERE  id = id_held
    AND    CASE WHEN tries = tries_held
                AND    holder = holder_held
                AND    state = 'busy' THEN true END
    RETURNING id, address, weight
),
changed AS (
    UPDATE totals
    SET    queued = (totals.queued + shared.jobs),
           weight = (coalesce(totals.weight, 0) + shared.sum_weight)
    FROM   (
               SELECT held.address AS of_address,
                      count(*) AS jobs,
                      sum(-held.weight + 1) AS sum_weight
               FROM   held
               GROUP  BY held.address
           ) AS shared
    WHERE  totals.address = shared.of_address
),
changed_2 AS (
    UPDATE tries
    SET    n = (n + 1)
    FROM   held
    WHERE  tries.letter_id = held.id
)
SELECT id
FROM   held;

-- sql/fail.sql
-- fail: running to failed; changes rows of totals
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
WITH /* lettersq.Fail */ held AS (
    UPDATE letters
    SET    state = 'lost'
    FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
    WHERE  id = id_held
    AND    CASE WHEN tries = tries_held
                AND    holder = holder_held
                AND    state = 'busy' THEN true END
    RETURNING id, address
),
changed AS (
    UPDATE totals
    SET    queued = ((totals.queued + 1) * 2)
    FROM   held
    WHERE  totals.address = held.address
)
SELECT id
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used; changes rows of totals
-- fence: tries, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries, 3: batch Holder
WITH /* lettersq.Requeue */ held AS (
    UPDATE letters
    SET    state = 'new',
           tries = tries - 1,
           holder = NULL
    FROM   unnest($1::bigint[], $2::integer[], $3::text[]) AS job (id_held, tries_held, holder_held)
    WHERE  id = id_held
    AND    CASE WHEN tries = tries_held
                AND    holder = holder_held
                AND    state = 'busy' THEN true END
    RETURNING id, address
),
changed AS (
    UPDATE totals
    SET    queued = (totals.queued + shared.jobs)
    FROM   (
               SELECT held.address AS of_address,
                      count(*) AS jobs
               FROM   held
               GROUP  BY held.address
           ) AS shared
    WHERE  totals.address = shared.of_address
)
SELECT id
FROM   held;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new',
       tries = 0,
       holder = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'sent' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'sent'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'lost' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'lost'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address, 2: new Weight
INSERT /* lettersq.Enqueue */ INTO letters
       (address, weight)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Address, 2: new_batch Weight
INSERT /* lettersq.EnqueueMany */ INTO letters
       (address, weight)
SELECT address_new, weight_new
FROM   unnest($1::text[], $2::integer[]) WITH ORDINALITY AS job (address_new, weight_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_update_totals.sql
-- enqueue: updates rows of totals for the rows that were added; jobs that share one are added up
-- locks: the rows it writes, until commit
-- index: the key; of totals one that begins with address
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lettersq.Enqueue */ totals
SET    queued = (queued + shared.jobs),
       weight = (totals.weight + shared.sum_weight)
FROM   (
           SELECT held.address AS of_address,
                  count(*) AS jobs,
                  sum(held.weight) AS sum_weight
           FROM   letters AS held
           WHERE  held.id = ANY ($1::bigint[])
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
-- index: (id NULLS FIRST) WHERE state = 'new'
SELECT /* lettersq.Backlog */
       count(*) AS ready
FROM   letters
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* lettersq.Peek */
       id, address, weight, tries
FROM   letters
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* lettersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('address', 'text'),
               ('weight', 'integer'),
               ('state', 'text'),
               ('tries', 'integer'),
               ('holder', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('letters')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of totals
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('queued', 'integer'),
               ('weight', 'integer'),
               ('address', 'text'),
               ('taken_at', 'timestamptz'),
               ('kind', 'text'),
               ('last_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('totals')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also2.sql
-- verify: columns of workers
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('done', 'integer'),
               ('name', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('workers')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also3.sql
-- verify: columns of tries
-- locks: none
SELECT /* lettersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('n', 'integer'),
               ('letter_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tries')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* lettersq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* lettersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('letters_ready', 'id nulls first', 'id nulls first', 'state=''new''')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('letters')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY letters_ready ON letters (id NULLS FIRST)
WHERE  state = 'new';
