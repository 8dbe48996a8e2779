-- Package remindersq uses the table reminders as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates reminders_ready.
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
-- note: on retry, column "why" gets null as qgen:on says, not {error} as qgen:error would
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (due, id) WHERE sent = false
-- isolation: read committed
-- arguments: 1: param all *bool, 2: param kind *int64, 3: held ID, 4: limit
SELECT /* remindersq.Claim */
       id, due, kind, why
FROM   reminders
WHERE  sent = false
AND    ((reminders.due <= now() or $1::boolean is not null) and ($2::integer is null or reminders.kind = $2))
AND    id <> ALL ($3::bigint[])
ORDER  BY due, id
LIMIT  $4
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* remindersq.Complete */ FROM reminders
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = false THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
DELETE /* remindersq.Fail */ FROM reminders
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN sent = false THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: nothing that others wait for
-- arguments: 1: new Due, 2: new Kind
INSERT /* remindersq.Enqueue */ INTO reminders
       (due, kind)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Due, 2: new_batch Kind
INSERT /* remindersq.EnqueueMany */ INTO reminders
       (due, kind)
SELECT due_new, kind_new
FROM   unnest($1::timestamptz[], $2::integer[]) WITH ORDINALITY AS job (due_new, kind_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: (due, id) WHERE sent = false
SELECT /* remindersq.Stats */
       count(*) AS ready
FROM   reminders
WHERE  sent = false;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (due, id) WHERE sent = false
-- isolation: read committed
-- arguments: 1: param all *bool, 2: param kind *int64, 3: limit
SELECT /* remindersq.Peek */
       id, due, kind, why
FROM   reminders
WHERE  sent = false
AND    ((reminders.due <= now() or $1::boolean is not null) and ($2::integer is null or reminders.kind = $2))
ORDER  BY due, id
LIMIT  $3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* remindersq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* remindersq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('sent', 'boolean'),
               ('due', 'timestamptz'),
               ('kind', 'integer'),
               ('why', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('reminders')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* remindersq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* remindersq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('reminders_ready', 'due, id', 'due, id', 'sent=false')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('reminders')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that a condition of the queue refuses are read and passed over
CREATE INDEX CONCURRENTLY reminders_ready ON reminders (due, id)
WHERE  sent = false;
