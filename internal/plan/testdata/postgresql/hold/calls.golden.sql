-- Package callsq uses the table calls as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> done
-- 	held     --Fail------------> ready
-- 	held     --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=hold is asked for
--   lease_table  strategy=hold is asked for
-- * hold         strategy=hold is asked for
--   partition    strategy=hold is asked for
--   returning    strategy=hold is asked for
--   block        strategy=hold is asked for
--   token        strategy=hold is asked for
--   lock_update  strategy=hold is asked for
--   advisory     strategy=hold is asked for
--   guarded      strategy=hold is asked for
--   pop          strategy=hold is asked for
-- note: finished rows stay in the table and are known by column "heard" (done=keep)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"; order 1 at column "due_at" takes them by their time, and reads none that wait for theirs

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (id NULLS FIRST, due_at) WHERE heard IS NULL
-- isolation: read committed
-- arguments: 1: held ID, 2: limit
SELECT /* callsq.Claim */
       id, opens::text, due_at
FROM   calls
WHERE  heard IS NULL
AND    due_at <= localtimestamp
AND    (opens <= localtime)
AND    id <> ALL ($1::bigint[])
ORDER  BY id NULLS FIRST
LIMIT  $2
FOR    NO KEY UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* callsq.Complete */ calls
SET    heard = statement_timestamp()::timestamp,
       day = statement_timestamp()::date,
       hour = (statement_timestamp()::time)
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN heard IS NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* callsq.Fail */ calls
SET    due_at = statement_timestamp()::timestamp + make_interval(secs => $1)
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN heard IS NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID
UPDATE /* callsq.Requeue */ calls
SET    due_at = CASE WHEN $1 > 0.0 THEN statement_timestamp()::timestamp + make_interval(secs => $1) ELSE due_at END,
       seen = (statement_timestamp()::date)
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN heard IS NULL THEN true END
RETURNING id;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (heard) WHERE heard IS NOT NULL would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* callsq.Purge */ FROM calls
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   calls
           WHERE  heard IS NOT NULL
           AND    heard <= localtimestamp - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due and the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Opens, 2: new DueAt
INSERT /* callsq.Enqueue */ INTO calls
       (opens, due_at)
VALUES ($1::text::time, coalesce($2::timestamp, localtimestamp))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due and the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Opens, 2: new_batch DueAt
INSERT /* callsq.EnqueueMany */ INTO calls
       (opens, due_at)
SELECT opens_new::text::time, coalesce(due_at_new, localtimestamp)
FROM   unnest($1::text[], $2::timestamp[]) WITH ORDINALITY AS job (opens_new, due_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* callsq.Stats */
       count(*) FILTER (WHERE heard IS NULL AND due_at <= localtimestamp AND (opens <= localtime)) AS ready,
       count(*) FILTER (WHERE heard IS NOT NULL) AS done,
       count(*) FILTER (WHERE heard IS NULL AND due_at > localtimestamp) AS delayed,
       extract(epoch FROM localtimestamp - min(due_at) FILTER (WHERE heard IS NULL AND due_at <= localtimestamp AND (opens <= localtime))) AS oldest_ready
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST, due_at) WHERE heard IS NULL
SELECT /* callsq.Backlog */
       count(*) FILTER (WHERE due_at <= localtimestamp AND (opens <= localtime)) AS ready,
       count(*) FILTER (WHERE due_at > localtimestamp) AS delayed,
       extract(epoch FROM localtimestamp - min(due_at) FILTER (WHERE due_at <= localtimestamp AND (opens <= localtime))) AS oldest_ready
FROM   calls
WHERE  heard IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST, due_at) WHERE heard IS NULL
-- isolation: read committed
-- arguments: 1: limit
SELECT /* callsq.Peek */
       id, opens::text, due_at
FROM   calls
WHERE  heard IS NULL
AND    due_at <= localtimestamp
AND    (opens <= localtime)
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* callsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* callsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('opens', 'time'),
               ('due_at', 'timestamp'),
               ('heard', 'timestamp'),
               ('day', 'date'),
               ('hour', 'time'),
               ('seen', 'date')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('calls')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_clock.sql
-- verify: clock
-- locks: none
-- arguments: 1: clock DueAt
SELECT /* callsq.Verify */
       'the clock of the database reads ' || (localtimestamp)::text || ', and that of the program does not'
WHERE  extract(epoch FROM localtimestamp - $1::timestamp) NOT BETWEEN -600 AND 600;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* callsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* callsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('calls_ready', 'id nulls first', 'id nulls first', 'heardisnull')) AS want (name, columns, least, predicate)
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
CREATE INDEX CONCURRENTLY calls_ready ON calls (id NULLS FIRST, due_at)
WHERE  heard IS NULL;
