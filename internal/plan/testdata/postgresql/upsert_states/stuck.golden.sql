-- Package stuckq uses the table stuck as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates stuck_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  not needed: returning comes first
--   advisory     not needed: returning comes first
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: enqueue=update changes the row that is like a new job in url (unique key stuck_url_key): body = {body}, mark = NULL
-- note: warning: a worker whose job is enqueued again gets ErrLost, since qgen:on update writes column mark, by which it is told; the job stays running for good, since nothing tells that its claim has run out

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Mark, 2: low, 3: limit
UPDATE /* stuckq.Claim */ stuck
SET    state = 'busy',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stuck
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, body, mark;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* stuckq.Claim */ stuck
SET    state = 'busy',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stuck
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, body, mark;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: token Mark, 2: low
UPDATE /* stuckq.Claim */ stuck
SET    state = 'busy',
       mark = $1
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   stuck
           WHERE  state = 'new'
           AND    id > $2
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, url, body, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* stuckq.Complete */ FROM stuck
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* stuckq.Fail */ stuck
SET    state = 'new',
       mark = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
UPDATE /* stuckq.Requeue */ stuck
SET    state = 'new',
       mark = NULL
FROM   unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in url (unique key stuck_url_key)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new URL, 2: new Body
INSERT /* stuckq.Enqueue */ INTO stuck
       (url, body)
VALUES ($1, $2)
ON     CONFLICT (url) DO UPDATE
SET    body = excluded.body,
       mark = NULL
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stuckq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running
FROM   stuck;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'new'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* stuckq.Peek */
       id, url, body
FROM   stuck
WHERE  state = 'new'
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stuckq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* stuckq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('url', 'text'),
               ('body', 'text'),
               ('state', 'text'),
               ('mark', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('stuck')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* stuckq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* stuckq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('stuck_ready', 'id nulls first', 'id nulls first', 'state=''new''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('stuck')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY stuck_ready ON stuck (id NULLS FIRST)
WHERE  state = 'new';
