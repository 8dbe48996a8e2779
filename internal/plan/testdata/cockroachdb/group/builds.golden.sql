-- Package buildsq uses the table builds as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- Of the jobs that are alike in repo, one runs at once; of two claims that meet in a group one is undone and made again. In a transaction of the caller's own that must be SERIALIZABLE.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates builds_ready and builds_group and builds_line.
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
--   lock_update  the running rows of a group are counted by the statement that takes the rows
--   advisory     CockroachDB has no locks on numbers
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for repo has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: ((CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id) WHERE state = 'new'
-- arguments: 1: limit
UPDATE /* buildsq.Claim */ builds
SET    state = 'busy'
WHERE  state = 'new'
AND    (SELECT 1
               FROM   builds AS other
               WHERE  other.repo = builds.repo
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   builds AS other
               WHERE  other.repo = builds.repo
               AND    other.state = 'new'
               AND    ((CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) < (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) OR (CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) = (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) AND (((other.weight - other.used) > (builds.weight - builds.used) OR (builds.weight - builds.used) IS NULL AND (other.weight - other.used) IS NOT NULL) OR ((other.weight - other.used) = (builds.weight - builds.used) OR (other.weight - other.used) IS NULL AND (builds.weight - builds.used) IS NULL) AND other.id < builds.id))
               LIMIT  1) IS NULL
ORDER  BY (CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC NULLS LAST, id
LIMIT  $1
RETURNING id, repo, kind, weight, used;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* buildsq.Complete */ builds
SET    state = 'over'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* buildsq.Fail */ builds
SET    state = 'dead'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID
UPDATE /* buildsq.Requeue */ builds
SET    state = 'new'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN state = 'busy' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* buildsq.Redrive */ builds
SET    state = 'new'
WHERE  state = 'dead'
LIMIT  $1;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'over' would find them
-- arguments: 1: limit
DELETE /* buildsq.Purge */ FROM builds
WHERE  state = 'over'
LIMIT  $1;

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; of two that meet one is undone and made again
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* buildsq.Purge */ FROM builds
WHERE  state = 'dead'
LIMIT  $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Repo, 3: new Kind, 4: new Weight, 5: new Used
INSERT /* buildsq.Enqueue */ INTO builds
       (id, repo, kind, weight, used)
VALUES (coalesce($1::bigint, unique_rowid()), $2, $3, $4, $5)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Repo, 3: new_batch Kind, 4: new_batch Weight, 5: new_batch Used
INSERT /* buildsq.EnqueueMany */ INTO builds
       (id, repo, kind, weight, used)
SELECT coalesce(id_new, unique_rowid()), repo_new, kind_new, weight_new, used_new
FROM   unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS job (id_new, repo_new, kind_new, weight_new, used_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'over') AS done,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   builds;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: ((CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id) WHERE state = 'new'
SELECT /* buildsq.Backlog */
       count(*) AS ready
FROM   builds
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ((CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id) WHERE state = 'new'
-- arguments: 1: limit
SELECT /* buildsq.Peek */
       id, repo, kind, weight, used
FROM   builds
WHERE  state = 'new'
AND    (SELECT 1
               FROM   builds AS other
               WHERE  other.repo = builds.repo
               AND    other.state = 'busy'
               LIMIT  1) IS NULL
AND    (SELECT 1
               FROM   builds AS other
               WHERE  other.repo = builds.repo
               AND    other.state = 'new'
               AND    ((CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) < (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) OR (CASE other.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) = (CASE builds.kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END) AND (((other.weight - other.used) > (builds.weight - builds.used) OR (builds.weight - builds.used) IS NULL AND (other.weight - other.used) IS NOT NULL) OR ((other.weight - other.used) = (builds.weight - builds.used) OR (other.weight - other.used) IS NULL AND (builds.weight - builds.used) IS NULL) AND other.id < builds.id))
               LIMIT  1) IS NULL
ORDER  BY (CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC NULLS LAST, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('repo', 'text'),
               ('kind', 'bigint'),
               ('weight', 'bigint'),
               ('used', 'bigint'),
               ('state', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('builds')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('builds_ready'),
               ('builds_group'),
               ('builds_line')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('builds')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX builds_ready ON builds ((CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END), (weight - used) DESC, id)
WHERE  state = 'new';

-- serves Claim: the running rows of a group
CREATE INDEX builds_group ON builds (repo)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX builds_line ON builds (repo)
WHERE  state = 'new';
