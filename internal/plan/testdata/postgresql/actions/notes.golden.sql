-- Package notesq uses the table notes as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It waits for rows that others have locked, looks again whether they are ready, and locks the rows it takes until it commits. A row that another transaction is about to add or to make ready is not waited for: it is found once that has committed. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates notes_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=pop is asked for
--   lease_table  strategy=pop is asked for
--   hold         strategy=pop is asked for
--   partition    strategy=pop is asked for
--   returning    strategy=pop is asked for
--   block        strategy=pop is asked for
--   token        strategy=pop is asked for
--   lock_update  strategy=pop is asked for
--   advisory     strategy=pop is asked for
--   guarded      strategy=pop is asked for
-- * pop          strategy=pop is asked for
-- note: rows are taken in any order: nothing orders them

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: (task)
-- isolation: read committed
-- arguments: 1: param task int32, 2: limit
SELECT /* notesq.Claim */
       ctid, task, body
FROM   notes
WHERE  task = $1
LIMIT  $2
FOR    UPDATE;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch RowID
DELETE /* notesq.Claim */ FROM notes
WHERE  ctid = ANY ($1::tid[]);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Task, 2: new Body
INSERT /* notesq.Enqueue */ INTO notes
       (task, body)
VALUES ($1, $2);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Task, 2: new_batch Body
INSERT /* notesq.EnqueueMany */ INTO notes
       (task, body)
SELECT task_new, body_new
FROM   unnest($1::integer[], $2::text[]) WITH ORDINALITY AS job (task_new, body_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Stats */
       count(*) AS ready
FROM   notes;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same task is for
-- locks: none
-- index: (task)
-- arguments: 1: param task int32
SELECT /* notesq.StatsOf */
       count(*) AS ready
FROM   notes
WHERE  task = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by task
-- locks: none
-- index: none; it reads the whole table
SELECT /* notesq.Backlog */
       task,
       count(*) AS ready
FROM   notes
GROUP  BY task
ORDER  BY task;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (task)
-- isolation: read committed
-- arguments: 1: param task int32, 2: limit
SELECT /* notesq.Peek */
       ctid, task, body
FROM   notes
WHERE  task = $1
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* notesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* notesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('task', 'integer'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('notes')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* notesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* notesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('notes_ready', 'task', 'task', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('notes')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY notes_ready ON notes (task);
