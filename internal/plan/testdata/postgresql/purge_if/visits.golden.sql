-- Package visitsq uses the table visits as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	purge_if --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates visits_ready.
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
-- note: warning: purge_if names no column that tells which rows run, so Purge removes such rows, too, and whoever works on one of them gets ErrLost; and not (sent = 2) leaves them out
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE sent = 0
-- isolation: read committed
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string, 10: limit
UPDATE /* visitsq.Claim */ visits
SET    sent = 2
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  sent = 0
           AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
           AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
           ORDER  BY id NULLS FIRST
           LIMIT  $10
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, host, owner, size;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE sent = 0
-- isolation: read committed
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string
UPDATE /* visitsq.Claim */ visits
SET    sent = 2
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  sent = 0
           AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
           AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, host, owner, size;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE sent = 0
-- isolation: read committed
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string
UPDATE /* visitsq.Claim */ visits
SET    sent = 2
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  sent = 0
           AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
           AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, made, host, owner, size;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* visitsq.Complete */ visits
SET    sent = 1
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* visitsq.Fail */ visits
SET    sent = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* visitsq.Requeue */ visits
SET    sent = 0
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = 2 THEN true END
RETURNING id;

-- sql/purge.sql
-- purge: rows for which purge_if holds, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: whichever finds the rows of purge_if
-- isolation: read committed
-- arguments: 1: param days int, 2: param longer int, 3: param hours int32, 4: limit
DELETE /* visitsq.Purge */ FROM visits
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   visits
           WHERE  (made < current_date - $1::integer or made < current_date - $2::smallint or $3::integer * interval '1 hour' < now() - made)
           LIMIT  $4
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Host, 2: new Owner, 3: new Size
INSERT /* visitsq.Enqueue */ INTO visits
       (made, host, owner, size)
VALUES (now(), $1, $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Host, 2: new_batch Owner, 3: new_batch Size
INSERT /* visitsq.EnqueueMany */ INTO visits
       (made, host, owner, size)
SELECT now(), host_new, owner_new, size_new
FROM   unnest($1::text[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS job (host_new, owner_new, size_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* visitsq.Stats */
       count(*) FILTER (WHERE sent = 0) AS ready,
       count(*) FILTER (WHERE sent = 2) AS running,
       count(*) FILTER (WHERE sent = 1) AS done,
       extract(epoch FROM now() - min(made) FILTER (WHERE sent = 0)) AS oldest_ready
FROM   visits;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE sent = 0
SELECT /* visitsq.Backlog */
       count(*) AS ready,
       extract(epoch FROM now() - min(made)) AS oldest_ready
FROM   visits
WHERE  sent = 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE sent = 0
-- isolation: read committed
-- arguments: 1: param days int, 2: param host string, 3: param pattern string, 4: param all bool, 5: param owner string, 6: param least int, 7: param most int, 8: param size int, 9: param textValue string, 10: limit
SELECT /* visitsq.Peek */
       id, made, host, owner, size
FROM   visits
WHERE  sent = 0
AND    (made > current_date - $1::integer and (lower(host) = lower($2::text) or visits.host like $3 or $4))
AND    (owner = $5 and (size between $6 and $7 or ($8) <> size or size in (-1, $6) or size < cast($9 as integer)))
ORDER  BY id NULLS FIRST
LIMIT  $10;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* visitsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* visitsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('made', 'timestamptz'),
               ('host', 'text'),
               ('owner', 'uuid'),
               ('size', 'bigint'),
               ('sent', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('visits')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* visitsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* visitsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('visits_ready', 'id nulls first', 'id nulls first', 'sent=0')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('visits')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CONCURRENTLY visits_ready ON visits (id NULLS FIRST)
WHERE  sent = 0;
