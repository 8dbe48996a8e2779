-- Package filesq uses the tables files and files_acquired as a queue of jobs on YugabyteDB 2024.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in files_acquired tells that it is gone.
--
-- Besides the queue's own rows it writes journal (Enqueue), each in the transaction of the operation.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to files_acquired, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: an index in queue order is one hot tablet: for many workers add a column for qgen:shard mod and give each worker its share; a hashed index would put the rows out of order

-- sql/claim.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit, 2: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  $1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.address
)
INSERT INTO files_acquired
       (id, address, mark)
SELECT gone.id, gone.address, $2::uuid
FROM   gone
RETURNING id, address, mark;

-- sql/claim_1.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  1
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.address
)
INSERT INTO files_acquired
       (id, address, mark)
SELECT gone.id, gone.address, $1::uuid
FROM   gone
RETURNING id, address, mark;

-- sql/claim_100.sql
-- claim: ready to running, from files to files_acquired
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: token Mark
WITH /* filesq.Claim */ gone AS (
    DELETE FROM files
    WHERE  id = ANY (ARRAY(
               SELECT id
               FROM   files
               ORDER  BY id
               LIMIT  100
               FOR    UPDATE SKIP LOCKED))
    RETURNING files.id, files.address
)
INSERT INTO files_acquired
       (id, address, mark)
SELECT gone.id, gone.address, $1::uuid
FROM   gone
RETURNING id, address, mark;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Complete */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
SELECT /* filesq.Fail */
       id
FROM   files_acquired,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
FOR    UPDATE OF files_acquired;

-- sql/retry_move.sql
-- retry: the rows that retry_lock.sql locked go to files before retry.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
INSERT /* filesq.Fail */ INTO files
       (id, address)
SELECT held.id, held.address
FROM   files_acquired AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  held.id = id_held
AND    CASE WHEN held.mark = mark_held THEN true END;

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Fail */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: mark as the claim left it
-- locks: the rows it returns, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
SELECT /* filesq.Requeue */
       id
FROM   files_acquired,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
FOR    UPDATE OF files_acquired;

-- sql/requeue_move.sql
-- requeue: the rows that requeue_lock.sql locked go to files before requeue.sql deletes them
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
INSERT /* filesq.Requeue */ INTO files
       (id, address)
SELECT held.id, held.address
FROM   files_acquired AS held,
       unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  held.id = id_held
AND    CASE WHEN held.mark = mark_held THEN true END;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Mark
DELETE /* filesq.Requeue */ FROM files_acquired
USING  unnest($1::bigint[], $2::uuid[]) AS job (id_held, mark_held)
WHERE  id = id_held
AND    CASE WHEN mark = mark_held THEN true END
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Address
INSERT /* filesq.Enqueue */ INTO files
       (address)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Address
INSERT /* filesq.EnqueueMany */ INTO files
       (address)
SELECT address_new
FROM   unnest($1::varchar[]) WITH ORDINALITY AS job (address_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/enqueue_insert_journal.sql
-- enqueue: inserts rows into journal for the rows that were added
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch ID
INSERT /* filesq.Enqueue */ INTO journal
       (what, id, address)
SELECT 'file', held.id, held.address
FROM   files AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* filesq.Stats */
       ready,
       running
FROM   (
           SELECT count(*) AS ready
           FROM   files
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   files_acquired
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* filesq.Peek */
       id, address
FROM   files
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* filesq.Verify */
       'the server is ' || version() || ', the package needs YugabyteDB 2024.2'
WHERE  CASE
           WHEN version() NOT LIKE '%-YB-%' THEN true
           ELSE split_part(split_part(version(), '-YB-', 2), '.', 1)::int * 100
                + split_part(split_part(version(), '-YB-', 2), '.', 2)::int < 202402
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('address', 'varchar'),
               ('mark', 'uuid')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files_acquired')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of journal
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('what', 'varchar'),
               ('id', 'bigint'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('journal')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of files
-- locks: none
SELECT /* filesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('address', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('files')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of files
-- locks: none
SELECT /* filesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('files_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('files')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* filesq.Verify */
       'transactions run at ' || current_setting('yb_effective_transaction_isolation_level')
       || '; set yb_enable_read_committed_isolation on every node'
WHERE  lower(current_setting('yb_effective_transaction_isolation_level')) <> 'read committed';

-- serves Claim: ready rows in queue order, so that nothing is sorted: files_pkey serves already
