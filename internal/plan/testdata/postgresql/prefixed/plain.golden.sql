-- Package plainq uses the table plain as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates plain_ready and plain_expired.
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
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, id
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kindPrefix string, 2: limit
UPDATE /* plainq.Claim */ plain
SET    state = 'busy',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   plain
           WHERE  state = 'new'
           AND    kind ^@ $1::text
           ORDER  BY id NULLS FIRST
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, claimed, kind;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kindPrefix string
UPDATE /* plainq.Claim */ plain
SET    state = 'busy',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   plain
           WHERE  state = 'new'
           AND    kind ^@ $1::text
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, claimed, kind;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kindPrefix string
UPDATE /* plainq.Claim */ plain
SET    state = 'busy',
       claimed = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   plain
           WHERE  state = 'new'
           AND    kind ^@ $1::text
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, claimed, kind;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* plainq.Complete */ plain
SET    state = 'ok'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* plainq.Fail */ plain
SET    state = 'new',
       claimed = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* plainq.Requeue */ plain
SET    state = 'new',
       claimed = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: claimed as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Claimed
UPDATE /* plainq.Extend */ plain
SET    claimed = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, claimed_held)
WHERE  id = id_held
AND    CASE WHEN claimed = claimed_held
            AND    state = 'busy' THEN true END
RETURNING id, claimed;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (claimed) WHERE state = 'busy'
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* plainq.Recover */ plain
SET    state = 'new',
       claimed = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   plain
           WHERE  state = 'busy'
           AND    claimed <= now() - interval '5 minutes'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (claimed) WHERE state = 'ok' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* plainq.Purge */ FROM plain
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   plain
           WHERE  state = 'ok'
           AND    claimed <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Kind
INSERT /* plainq.Enqueue */ INTO plain
       (id, kind)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Kind
INSERT /* plainq.EnqueueMany */ INTO plain
       (id, kind)
SELECT id_new, kind_new
FROM   unnest($1::bigint[], $2::varchar[]) WITH ORDINALITY AS job (id_new, kind_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* plainq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'ok') AS done,
       count(*) FILTER (WHERE state = 'busy' AND claimed <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(claimed) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   plain;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param kindPrefix string
SELECT /* plainq.StatsOf */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'ok') AS done,
       count(*) FILTER (WHERE state = 'busy' AND claimed <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(claimed) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   plain
WHERE  kind ^@ $1::text;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: plain_kind (kind, id) WHERE state = 'new'
SELECT /* plainq.Backlog */
       count(*) AS ready
FROM   plain
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: param kindPrefix string, 2: limit
SELECT /* plainq.Peek */
       id, kind
FROM   plain
WHERE  state = 'new'
AND    kind ^@ $1::text
ORDER  BY id NULLS FIRST
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* plainq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* plainq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('state', 'text'),
               ('claimed', 'timestamptz'),
               ('kind', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('plain')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* plainq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* plainq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('plain_ready', 'id nulls first', 'id nulls first', 'state=''new'''),
               ('plain_expired', 'claimed', 'claimed', 'state=''busy''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('plain')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows of another kind are read and passed over (an index that begins with kind text_pattern_ops, or with kind where its collation is C, leads to those that are wanted)
CREATE INDEX CONCURRENTLY plain_ready ON plain (id NULLS FIRST)
WHERE  state = 'new';

-- serves Recover: claims that ran out
CREATE INDEX CONCURRENTLY plain_expired ON plain (claimed)
WHERE  state = 'busy';
