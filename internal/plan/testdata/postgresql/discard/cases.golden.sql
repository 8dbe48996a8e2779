-- Package casesq uses the table cases as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Discard---------> (deleted)
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- Of the jobs that are alike in about, one runs at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_ready and cases_group and cases_line.
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
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     the running rows of a group are counted behind locks, in a statement of their own
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and only a handler that settles it by an outcome ("discard") ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for about has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
WITH /* casesq.Claim */ candidate AS MATERIALIZED (
    SELECT *
    FROM   cases
    WHERE  state = 'N'
    AND    CASE WHEN cases.about IN (SELECT other.about
               FROM   (SELECT other.about FROM cases AS other
                       WHERE  other.state = 'A'
                       ORDER  BY other.about LIMIT 1000) AS other
               GROUP  BY other.about
               HAVING count(*) >= 1) THEN false ELSE true END
    AND    CASE WHEN (SELECT 1
               FROM   cases AS other
               WHERE  other.about = cases.about
               AND    other.state = 'A'
               LIMIT  1) IS NULL THEN true END
    AND    CASE WHEN cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.about = cases.about
               AND    other.state = 'N'
               ORDER  BY other.id
               LIMIT  1) THEN true END
    ORDER  BY id NULLS FIRST
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
)
SELECT candidate.id
FROM   candidate
WHERE  pg_try_advisory_xact_lock('cases'::regclass::oid::int, hashtext(candidate.about::text));

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* casesq.Claim */ cases
SET    state = 'A',
       till = now() + interval '5 minutes'
WHERE  id = ANY ($1::bigint[])
AND    CASE WHEN (SELECT count(*)
               FROM   cases AS other
               WHERE  other.about = cases.about
               AND    other.state = 'A') = 0
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, about, till;

-- sql/complete.sql
-- complete: running to done
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* casesq.Complete */ cases
SET    state = 'D',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* casesq.Fail */ cases
SET    state = 'N',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* casesq.Requeue */ cases
SET    state = 'N',
       till = NULL
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
UPDATE /* casesq.Extend */ cases
SET    till = now() + interval '5 minutes'
FROM   unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id, till;

-- sql/outcome_discard.sql
-- outcome_discard: running to deleted
-- fence: till as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Till
DELETE /* casesq.Discard */ FROM cases
USING  unnest($1::bigint[], $2::timestamptz[]) AS job (id_held, till_held)
WHERE  id = id_held
AND    CASE WHEN till = till_held
            AND    state = 'A' THEN true END
RETURNING id;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (about) WHERE state = 'A', which has the rows that somebody has
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* casesq.Recover */ cases
SET    state = 'N',
       till = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   cases
           WHERE  state = 'A'
           AND    till <= now()
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'D' would find them
-- isolation: read committed
-- arguments: 1: limit
DELETE /* casesq.Purge */ FROM cases
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   cases
           WHERE  state = 'D'
           LIMIT  $1
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new About
INSERT /* casesq.Enqueue */ INTO cases
       (about)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch About
INSERT /* casesq.EnqueueMany */ INTO cases
       (about)
SELECT about_new
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (about_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(*) FILTER (WHERE state = 'N') AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'D') AS done,
       count(*) FILTER (WHERE state = 'A' AND till <= now()) AS expired
FROM   cases;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
SELECT /* casesq.Backlog */
       count(*) AS ready
FROM   cases
WHERE  state = 'N';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id NULLS FIRST) WHERE state = 'N'
-- isolation: read committed
-- arguments: 1: limit
SELECT /* casesq.Peek */
       id, about
FROM   cases
WHERE  state = 'N'
AND    CASE WHEN cases.about IN (SELECT other.about
               FROM   (SELECT other.about FROM cases AS other
                       WHERE  other.state = 'A'
                       ORDER  BY other.about LIMIT 1000) AS other
               GROUP  BY other.about
               HAVING count(*) >= 1) THEN false ELSE true END
AND    CASE WHEN (SELECT 1
               FROM   cases AS other
               WHERE  other.about = cases.about
               AND    other.state = 'A'
               LIMIT  1) IS NULL THEN true END
AND    CASE WHEN cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.about = cases.about
               AND    other.state = 'N'
               ORDER  BY other.id
               LIMIT  1) THEN true END
ORDER  BY id NULLS FIRST
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* casesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('about', 'integer'),
               ('state', 'text'),
               ('till', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('cases')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* casesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* casesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('cases_ready', 'id nulls first', 'id nulls first', 'state=''n'''),
               ('cases_group', 'about', 'about', 'state=''a'''),
               ('cases_line', 'about, id', 'about, id', 'state=''n''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('cases')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY cases_ready ON cases (id NULLS FIRST)
WHERE  state = 'N';

-- serves Claim: the running rows of a group; it also serves Recover: rows that somebody has, which are few
CREATE INDEX CONCURRENTLY cases_group ON cases (about)
WHERE  state = 'A';

-- serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY cases_line ON cases (about, id)
WHERE  state = 'N';
