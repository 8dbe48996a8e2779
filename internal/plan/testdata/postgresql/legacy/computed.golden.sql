-- Package computedq uses the table owned as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until Recover of the queue either over the same table takes them: nothing here tells that it is gone.
--
-- Whether a job may be done twice beside the old program of legacy_claim cannot be told. After a claim: nothing is known of `locked`. After it has taken a row: nothing is known of `locked`. Write the statements that take rows as plain SELECT, UPDATE and DELETE.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates owned_either_ready.
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
-- note: nothing here tells that a worker is gone, and there is no Recover: that of the queue either over the same table takes the rows of dead workers
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: warning: nothing tells what runs here from what runs in the queue either over the same table, so Recover there takes jobs of this queue as well whose claim has run out by the time that is said there, while they run: a value of its own for running, or a lasting qgen:where at both, tells them apart; or say the same time at both
-- old program: exclude each other: cannot tell
-- old program: after a claim: cannot tell: nothing is known of `locked`
-- old program: after the old one: cannot tell: nothing is known of `locked`
-- old program: rows of the old one: stay ready
-- old program: rows of a claim: do not look free to it: owner IS NULL is false of them
-- old program: what to do: Write the statements that take rows as plain SELECT, UPDATE and DELETE.

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE owner IS NULL
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low, 3: limit
UPDATE /* computedq.Claim */ owned
SET    owner = $1,
       ts = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   owned
           WHERE  owner IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, ts;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE owner IS NULL
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low
UPDATE /* computedq.Claim */ owned
SET    owner = $1,
       ts = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   owned
           WHERE  owner IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, ts;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE owner IS NULL
-- isolation: read committed
-- arguments: 1: worker Owner, 2: low
UPDATE /* computedq.Claim */ owned
SET    owner = $1,
       ts = now()
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   owned
           WHERE  owner IS NULL
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner, ts;

-- sql/complete.sql
-- complete: running to done
-- fence: ts, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Ts, 3: batch Owner
DELETE /* computedq.Complete */ FROM owned
USING  unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, ts_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN ts = ts_held
            AND    owner = owner_held
            AND    owner IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: ts, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Ts, 3: batch Owner
UPDATE /* computedq.Fail */ owned
SET    owner = NULL,
       ts = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, ts_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN ts = ts_held
            AND    owner = owner_held
            AND    owner IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: ts, owner as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Ts, 3: batch Owner
UPDATE /* computedq.Requeue */ owned
SET    owner = NULL,
       ts = NULL
FROM   unnest($1::bigint[], $2::timestamptz[], $3::text[]) AS job (id_held, ts_held, owner_held)
WHERE  id = id_held
AND    CASE WHEN ts = ts_held
            AND    owner = owner_held
            AND    owner IS NOT NULL THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
INSERT /* computedq.Enqueue */ INTO owned
DEFAULT VALUES
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* computedq.Stats */
       count(*) FILTER (WHERE owner IS NULL) AS ready,
       count(*) FILTER (WHERE owner IS NOT NULL) AS running,
       extract(epoch FROM now() - min(ts) FILTER (WHERE owner IS NOT NULL)) AS oldest_running
FROM   owned;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE owner IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* computedq.Peek */
       id
FROM   owned
WHERE  owner IS NULL
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* computedq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* computedq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('owner', 'text'),
               ('ts', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('owned')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* computedq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* computedq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('owned_either_ready', 'id nulls first', 'id nulls first', 'ownerisnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('owned')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
-- eitherq advises the same
CREATE INDEX CONCURRENTLY owned_either_ready ON owned (id NULLS FIRST)
WHERE  owner IS NULL;
