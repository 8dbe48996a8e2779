-- Package lettersq uses the table letters as a queue of jobs on PostgreSQL 15 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
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
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: there is no Enqueue: column "weight" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param most int, 2: param country string, 3: limit
UPDATE /* lettersq.Claim */ letters
SET    state = 'sent'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    (weight <= $1 and $2 = any (countries))
           ORDER  BY posted_at, id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, posted_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param most int, 2: param country string
UPDATE /* lettersq.Claim */ letters
SET    state = 'sent'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    (weight <= $1 and $2 = any (countries))
           ORDER  BY posted_at, id
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, posted_at;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (posted_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param most int, 2: param country string
UPDATE /* lettersq.Claim */ letters
SET    state = 'sent'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'new'
           AND    (weight <= $1 and $2 = any (countries))
           ORDER  BY posted_at, id
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, posted_at;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lettersq.Complete */ letters
SET    state = 'there'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'sent' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lettersq.Fail */ letters
SET    state = 'back'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'sent' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* lettersq.Requeue */ letters
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'sent' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* lettersq.Redrive */ letters
SET    state = 'new'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'back'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (posted_at) WHERE state = 'there' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'there'
           AND    posted_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (posted_at) WHERE state = 'back' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* lettersq.Purge */ FROM letters
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   letters
           WHERE  state = 'back'
           AND    posted_at <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* lettersq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'sent') AS running,
       count(*) FILTER (WHERE state = 'there') AS done,
       count(*) FILTER (WHERE state = 'back') AS failed,
       extract(epoch FROM now() - min(posted_at) FILTER (WHERE state = 'new')) AS oldest_ready
FROM   letters;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (posted_at, id) WHERE state = 'new'
SELECT /* lettersq.Backlog */
       count(*) AS ready,
       extract(epoch FROM now() - min(posted_at)) AS oldest_ready
FROM   letters
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (posted_at, id) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param most int, 2: param country string, 3: limit
SELECT /* lettersq.Peek */
       id, posted_at
FROM   letters
WHERE  state = 'new'
AND    (weight <= $1 and $2 = any (countries))
ORDER  BY posted_at, id
LIMIT  $3;

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
               ('state', 'text'),
               ('posted_at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('letters')
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
FROM   (VALUES ('letters_ready', 'posted_at, id', 'posted_at, id', 'state=''new''')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CONCURRENTLY letters_ready ON letters (posted_at, id)
WHERE  state = 'new';
