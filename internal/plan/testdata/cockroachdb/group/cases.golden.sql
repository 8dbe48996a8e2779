-- Package casesq uses the table cases as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
--
-- Jobs are claimed by the strategy returning: UPDATE takes the first rows in queue order and returns them; of two claims that meet one is undone and made again.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- Of the jobs that are alike in case_id, one runs at once; of two claims that meet in a group one is undone and made again. In a transaction of the caller's own that must be SERIALIZABLE.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates cases_group and cases_line.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, id
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for case_id has it read rows of one group alone
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim.sql
-- claim: ready to running
-- locks: the rows it takes, until commit; of two that meet one is undone and made again
-- index: the primary key (id)
-- arguments: 1: worker OwnerName, 2: limit
UPDATE /* casesq.Claim */ cases
SET    until_at = now() + interval '5 minutes',
       owner_name = $1,
       rev = rev + 1
WHERE  (until_at <= now() OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR ((SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > now()
               LIMIT  1) IS NULL
           AND cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= now() OR other.until_at IS NULL)
               ORDER  BY other.id
               LIMIT  1)))
ORDER  BY id
LIMIT  $2
RETURNING id, case_id, alone, until_at, rev;

-- sql/complete.sql
-- complete: running to done
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Rev
DELETE /* casesq.Complete */ FROM cases
USING  unnest($1::bigint[], $2::bigint[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* casesq.Fail */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* casesq.Requeue */ cases
SET    until_at = NULL,
       owner_name = NULL,
       rev = rev + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: rev as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch ID, 2: batch Rev
UPDATE /* casesq.Extend */ cases
SET    until_at = now() + interval '5 minutes',
       rev = rev + 1
FROM   unnest($1::bigint[], $2::bigint[]) AS job (id_held, rev_held)
WHERE  id = id_held
AND    CASE WHEN rev = rev_held
            AND    until_at IS NOT NULL THEN true END
RETURNING id, until_at, rev;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new CaseID, 3: new Alone
INSERT /* casesq.Enqueue */ INTO cases
       (id, case_id, alone)
VALUES (coalesce($1::bigint, unique_rowid()), $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch CaseID, 3: new_batch Alone
INSERT /* casesq.EnqueueMany */ INTO cases
       (id, case_id, alone)
SELECT coalesce(id_new, unique_rowid()), case_id_new, alone_new
FROM   unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS job (id_new, case_id_new, alone_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* casesq.Stats */
       count(*) FILTER (WHERE (until_at <= now() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at > now()) AS running,
       count(*) FILTER (WHERE until_at IS NOT NULL AND until_at <= now()) AS expired
FROM   cases;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: limit
SELECT /* casesq.Peek */
       id, case_id, alone, rev
FROM   cases
WHERE  (until_at <= now() OR until_at IS NULL)
AND    (CASE WHEN (alone = 1) THEN 1 ELSE 0 END = 0
           OR ((SELECT 1
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    other.until_at IS NOT NULL
               AND    other.until_at > now()
               LIMIT  1) IS NULL
           AND cases.id = (SELECT other.id
               FROM   cases AS other
               WHERE  other.case_id = cases.case_id
               AND    (alone = 1)
               AND    (other.until_at <= now() OR other.until_at IS NULL)
               ORDER  BY other.id
               LIMIT  1)))
ORDER  BY id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* casesq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* casesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('case_id', 'bigint'),
               ('alone', 'bigint'),
               ('until_at', 'timestamptz'),
               ('owner_name', 'text'),
               ('rev', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('cases')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* casesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('cases_pkey'),
               ('cases_group'),
               ('cases_line')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('cases')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted: cases_pkey serves already

-- serves Claim: the running rows of a group
CREATE INDEX cases_group ON cases (case_id)
WHERE  until_at IS NOT NULL;

-- serves Claim: who is before a row in its group
CREATE INDEX cases_line ON cases (case_id, id);
