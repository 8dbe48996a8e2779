-- Package journalq uses the table journal as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low, 3: limit
UPDATE /* journalq.Claim */ journal
SET    holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   journal
           WHERE  holder IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ident, holder, weight;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* journalq.Claim */ journal
SET    holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   journal
           WHERE  holder IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ident, holder, weight;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: worker Holder, 2: low
UPDATE /* journalq.Claim */ journal
SET    holder = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   journal
           WHERE  holder IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, ident, holder, weight;

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: holder as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
SELECT /* journalq.Complete */
       id
FROM   journal,
       unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    holder IS NOT NULL THEN true END
FOR    UPDATE OF journal;

-- sql/complete_delete_journal.sql
-- complete: deletes rows from journal for the rows that complete_lock.sql locked, before complete.sql; of other jobs than these
-- locks: the rows it writes, until commit; waits for who has them locked
-- index: the key; of the other rows (ident)
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
DELETE /* journalq.Complete */ FROM journal
USING  journal AS held,
       unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  held.id = id_held
AND    CASE WHEN held.holder = holder_held
            AND    (journal.id <= held.id) THEN true END
AND    journal.ident = held.ident
AND    journal.holder IS NULL
AND    NOT EXISTS (SELECT 1 FROM unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held) WHERE journal.id = id_held);

-- sql/complete_update_tags.sql
-- complete: updates rows of tags for the rows that complete_lock.sql locked, before complete.sql
-- locks: the rows it writes, until commit
-- index: the key; of tags one that begins with ident
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* journalq.Complete */ tags
SET    seen = 1
FROM   journal AS held,
       unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  held.id = id_held
AND    CASE WHEN held.holder = holder_held
            AND    (tags.lowest between 1 and held.weight) THEN true END
AND    tags.ident = held.ident;

-- sql/complete.sql
-- complete: running to done
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
DELETE /* journalq.Complete */ FROM journal
USING  unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    holder IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* journalq.Fail */ journal
SET    holder = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    holder IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Holder
UPDATE /* journalq.Requeue */ journal
SET    holder = NULL
FROM   unnest($1::bigint[], $2::text[]) AS job (id_held, holder_held)
WHERE  id = id_held
AND    CASE WHEN holder = holder_held
            AND    holder IS NOT NULL THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Ident, 2: new Weight
INSERT /* journalq.Enqueue */ INTO journal
       (ident, weight)
VALUES ($1, coalesce($2::integer, 0))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Ident, 2: new_batch Weight
INSERT /* journalq.EnqueueMany */ INTO journal
       (ident, weight)
SELECT ident_new, coalesce(weight_new, 0)
FROM   unnest($1::text[], $2::integer[]) WITH ORDINALITY AS job (ident_new, weight_new, job_order)
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
-- index: (id NULLS FIRST) WHERE holder IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* journalq.Peek */
       id, ident, weight
FROM   journal
WHERE  holder IS NULL
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* journalq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* journalq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('ident', 'text'),
               ('holder', 'text'),
               ('weight', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of tags
-- locks: none
SELECT /* journalq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('seen', 'integer'),
               ('ident', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tags')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* journalq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* journalq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('journal_ready', 'id nulls first', 'id nulls first', 'holderisnull'),
               ('journal_others', 'ident', 'ident', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('journal')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY journal_ready ON journal (id NULLS FIRST)
WHERE  holder IS NULL;

-- finds the rows of other jobs that a step writes
CREATE INDEX CONCURRENTLY journal_others ON journal (ident);
