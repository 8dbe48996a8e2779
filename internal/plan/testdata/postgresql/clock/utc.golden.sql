-- Package utcq uses the table calls as a queue of jobs on PostgreSQL 15 and later.
--
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_utc_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock, but for those that callers give.
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
-- note: column "day" counts whole days: a job that failed is due up to one day before or after its first wait of 5s ends
-- note: rows are taken as they came, by column "id"; order 1 at column "day" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: there is no Enqueue: column "opens" is ignored, and a new row needs a value in it

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, day) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
UPDATE /* utcq.Claim */ calls
SET    state = 'R'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'N'
           AND    day <= (now() AT TIME ZONE 'UTC')::date
           AND    (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)
           AND    ((called > $1 OR made > $2 - 60))
           ORDER  BY id NULLS FIRST
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, number, day, heard, made;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, day) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time
UPDATE /* utcq.Claim */ calls
SET    state = 'R'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'N'
           AND    day <= (now() AT TIME ZONE 'UTC')::date
           AND    (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)
           AND    ((called > $1 OR made > $2 - 60))
           ORDER  BY id NULLS FIRST
           LIMIT  1
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, number, day, heard, made;

-- sql/claim_100.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, day) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time
UPDATE /* utcq.Claim */ calls
SET    state = 'R'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'N'
           AND    day <= (now() AT TIME ZONE 'UTC')::date
           AND    (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)
           AND    ((called > $1 OR made > $2 - 60))
           ORDER  BY id NULLS FIRST
           LIMIT  100
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, number, day, heard, made;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* utcq.Complete */ calls
SET    state = 'D'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* utcq.Fail */ calls
SET    state = 'N',
       day = ((now() + make_interval(secs => $1)) AT TIME ZONE 'UTC')::date
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* utcq.Requeue */ calls
SET    state = 'N',
       day = CASE WHEN $1 > 0.0 THEN ((now() + make_interval(secs => $1)) AT TIME ZONE 'UTC')::date ELSE day END
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN state = 'R' THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (made) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* utcq.Purge */ FROM calls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  state = 'D'
           AND    made <= floor(extract(epoch FROM now()) - $1)::bigint
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* utcq.Stats */
       count(*) FILTER (WHERE state = 'N' AND day <= (now() AT TIME ZONE 'UTC')::date AND (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)) AS ready,
       count(*) FILTER (WHERE state = 'R') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'N' AND day > (now() AT TIME ZONE 'UTC')::date) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(made) FILTER (WHERE state = 'N' AND day <= (now() AT TIME ZONE 'UTC')::date AND (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60))) AS oldest_ready
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST, day) WHERE state = 'N'
SELECT /* utcq.Backlog */
       count(*) FILTER (WHERE day <= (now() AT TIME ZONE 'UTC')::date AND (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)) AS ready,
       count(*) FILTER (WHERE day > (now() AT TIME ZONE 'UTC')::date) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(made) FILTER (WHERE day <= (now() AT TIME ZONE 'UTC')::date AND (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60))) AS oldest_ready
FROM   calls
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST, day) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: param since time.Time, 2: param from *time.Time, 3: limit
SELECT /* utcq.Peek */
       id, number, day, heard, made
FROM   calls
WHERE  state = 'N'
AND    day <= (now() AT TIME ZONE 'UTC')::date
AND    (opens <= (now() AT TIME ZONE 'UTC')::time AND (now() AT TIME ZONE 'UTC')::time < closes AND day = (now() AT TIME ZONE 'UTC')::date AND (called < (now() AT TIME ZONE 'UTC') OR called IS NULL) AND made < floor(extract(epoch FROM now()))::bigint - 60)
AND    ((called > $1 OR made > $2 - 60))
ORDER  BY id NULLS FIRST
LIMIT  $3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* utcq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* utcq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('number', 'text'),
               ('state', 'char'),
               ('day', 'date'),
               ('heard', 'timestamp'),
               ('made', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('calls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* utcq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* utcq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('calls_utc_ready', 'id nulls first', 'id nulls first', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('calls')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY calls_utc_ready ON calls (id NULLS FIRST, day)
WHERE  state = 'N';
