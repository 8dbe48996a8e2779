-- Package systasksq uses the table systasks as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates systasks_ready and systasks_expired and systasks_like.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  not needed: returning comes first
--   advisory     CockroachDB has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: rows are taken as they came, by column "id"
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: enqueue=absent leaves a job out where a row is like it in kind, target, of those that are ready; producers that do not add jobs by Enqueue may still add one beside it
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: (id) WHERE status = 'TODO'
-- arguments: 1: low, 2: limit
UPDATE /* systasksq.Claim */ systasks
SET    status = 'WIP',
       since = now()
WHERE  status = 'TODO'
AND    id > $1
ORDER  BY id
LIMIT  $2
RETURNING id, kind, target, since;

-- sql/complete.sql
-- complete: running to done
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* systasksq.Complete */ systasks
SET    status = 'DONE'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'WIP' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* systasksq.Fail */ systasks
SET    status = 'ERROR'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'WIP' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* systasksq.Requeue */ systasks
SET    status = 'TODO',
       since = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'WIP' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Since
UPDATE /* systasksq.Extend */ systasks
SET    since = now()
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, since_held)
WHERE  id = id_held
AND    CASE WHEN since = since_held
            AND    status = 'WIP' THEN true END
RETURNING id, since;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: (since) WHERE status = 'WIP'
-- arguments: 1: limit
UPDATE /* systasksq.Recover */ systasks
SET    status = 'TODO',
       since = NULL
WHERE  status = 'WIP'
AND    since <= now() - interval '1 hour'
LIMIT  $1;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* systasksq.Redrive */ systasks
SET    status = 'TODO',
       since = NULL
WHERE  status = 'ERROR'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'DONE' would find them
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ FROM systasks
WHERE  status = 'DONE'
AND    since <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (since) WHERE status = 'ERROR' would find them
-- arguments: 1: older, 2: limit
DELETE /* systasksq.Purge */ FROM systasks
WHERE  status = 'ERROR'
AND    since <= now() - $1::float8 * interval '1 second'
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless one is like it in kind, target, of those that are ready: then it adds none
-- locks: the new row, until commit
-- index: (kind, target) WHERE status = 'TODO'
-- arguments: 1: new Kind, 2: new Target
INSERT /* systasksq.Enqueue */ INTO systasks
       (kind, target)
SELECT $1::text, $2::bigint
WHERE  NOT EXISTS (
           SELECT 1
           FROM   systasks
           WHERE  kind = $1::text
           AND    target = $2::bigint
           AND    status = 'TODO')
AND    NOT EXISTS (
           SELECT 1
           FROM   systasks
           WHERE  $2::bigint IS NULL
           AND    kind = $1::text
           AND    target IS NULL
           AND    status = 'TODO')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* systasksq.Stats */
       count(*) FILTER (WHERE status = 'TODO') AS ready,
       count(*) FILTER (WHERE status = 'WIP') AS running,
       count(*) FILTER (WHERE status = 'DONE') AS done,
       count(*) FILTER (WHERE status = 'ERROR') AS failed,
       count(*) FILTER (WHERE status = 'WIP' AND since <= now() - interval '1 hour') AS expired,
       extract(epoch FROM now() - min(since) FILTER (WHERE status = 'WIP')) AS oldest_running
FROM   systasks;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE status = 'TODO'
SELECT /* systasksq.Backlog */
       count(*) AS ready
FROM   systasks
WHERE  status = 'TODO';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE status = 'TODO'
-- arguments: 1: limit
SELECT /* systasksq.Peek */
       id, kind, target
FROM   systasks
WHERE  status = 'TODO'
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* systasksq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* systasksq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('kind', 'text'),
               ('target', 'bigint'),
               ('status', 'varchar'),
               ('since', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('systasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* systasksq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('systasks_ready'),
               ('systasks_expired'),
               ('systasks_like')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('systasks')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX systasks_ready ON systasks (id)
WHERE  status = 'TODO';

-- serves Recover: claims that ran out
CREATE INDEX systasks_expired ON systasks (since)
WHERE  status = 'WIP';

-- serves Enqueue: the rows that are like a new job; systasks_kind leads to these rows among others: where those are few, decline this one (indexes: {like: false})
CREATE INDEX systasks_like ON systasks (kind, target)
WHERE  status = 'TODO';
