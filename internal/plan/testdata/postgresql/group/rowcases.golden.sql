-- Package rowcasesq uses the table cases as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in case_id, at most 3 run at once; a claim locks the row of app.files that stands for each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_group and cases_line.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for case_id has it read rows of one group alone

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and the row of app.files for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
WITH /* rowcasesq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   cases
    WHERE  CASE WHEN until_at <= now() OR until_at IS NULL THEN true END
    AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(3 - (SELECT count(*)
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    other.until_at IS NOT NULL
               AND    other.until_at > now()), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM cases AS other
                       WHERE  other.case_id = cases.case_id
                       AND    (other.until_at <= now() OR other.until_at IS NULL)
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = cases.id) THEN true END
    ORDER  BY id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or((SELECT 1
               FROM   app.files
               WHERE  id = candidate.case_id
               FOR    NO KEY UPDATE SKIP LOCKED) = 1) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN (SELECT 1
               FROM   app.files
               WHERE  id = candidate.case_id
               FOR    NO KEY UPDATE SKIP LOCKED) = 1 END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN (SELECT 1
               FROM   app.files
               WHERE  id = candidate.case_id
               FOR    NO KEY UPDATE SKIP LOCKED) = 1 END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: worker OwnerName, 2: batch ID
UPDATE /* rowcasesq.Claim */ cases
SET    until_at = now() + interval '5 minutes',
       owner_name = $1,
       rev = rev + 1
WHERE  id = ANY ($2::bigint[])
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(3 - (SELECT count(*)
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    other.until_at IS NOT NULL
               AND    other.until_at > now()), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM cases AS other
                       WHERE  other.case_id = cases.case_id
                       AND    (other.until_at <= now() OR other.until_at IS NULL)
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = cases.id)
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, case_id, alone, until_at, rev;

-- sql/complete.sql
-- complete: running to done
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Rev
DELETE /* rowcasesq.Complete */ FROM cases
USING  unnest($1::bigint[], $2::integer[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* rowcasesq.Fail */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* rowcasesq.Requeue */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* rowcasesq.Extend */ cases
SET    until_at = now() + interval '5 minutes',
       rev = rev + 1
FROM   unnest($1::bigint[], $2::integer[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id, until_at, rev;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new CaseID, 2: new Alone
INSERT /* rowcasesq.Enqueue */ INTO cases
       (case_id, alone)
VALUES ($1, $2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch CaseID, 2: new_batch Alone
INSERT /* rowcasesq.EnqueueMany */ INTO cases
       (case_id, alone)
SELECT case_id_new, alone_new
FROM   unnest($1::integer[], $2::integer[]) WITH ORDINALITY AS job (case_id_new, alone_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* rowcasesq.Stats */
       count(*) FILTER (WHERE (until_at <= now() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at > now()) AS running,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at <= now()) AS expired
FROM   cases;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id); CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: limit
SELECT /* rowcasesq.Peek */
       id, case_id, alone, rev
FROM   cases
WHERE  CASE WHEN until_at <= now() OR until_at IS NULL THEN true END
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(3 - (SELECT count(*)
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    other.until_at IS NOT NULL
               AND    other.until_at > now()), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM cases AS other
                       WHERE  other.case_id = cases.case_id
                       AND    (other.until_at <= now() OR other.until_at IS NULL)
                       ORDER  BY other.id LIMIT room.n) AS other
               WHERE  other.id = cases.id) THEN true END
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* rowcasesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* rowcasesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('case_id', 'integer'),
               ('alone', 'integer'),
               ('until_at', 'timestamptz'),
               ('owner_name', 'text'),
               ('rev', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('cases')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* rowcasesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* rowcasesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('cases_pkey', 'id', 'id', ''),
               ('cases_group', 'case_id', 'case_id', 'until_atisnotnull'),
               ('cases_line', 'case_id, id', 'case_id, id', '')) AS want (name, columns, least, predicate)
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

-- serves Claim: ready rows in queue order, so that nothing is sorted: cases_pkey serves already

-- serves Claim: the running rows of a group
-- casesq advises the same
CREATE INDEX CONCURRENTLY cases_group ON cases (case_id)
WHERE  until_at IS NOT NULL;

-- serves Claim: who is before a row in its group
-- casesq advises the same
CREATE INDEX CONCURRENTLY cases_line ON cases (case_id, id);
