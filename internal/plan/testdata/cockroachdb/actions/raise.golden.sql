-- Package raiseq uses the table jobs as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes the rows that its caller names, and that is all.
--
-- It locks the rows it takes until it commits; of two claims that meet, one is undone and made again. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- Besides the queue's own rows it writes erased (Claim), each in the transaction of the operation.
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
-- note: no order is said: rows are taken in the order of the key, id
-- note: there is no Enqueue: the queue "jobs" adds the rows that a claim takes here
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_lock.sql
-- claim: locks ready rows, which claim.sql then writes
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the primary key (id)
-- arguments: 1: param id int64, 2: limit
SELECT /* raiseq.Claim */
       id
FROM   jobs
WHERE  id = $1
ORDER  BY id
LIMIT  $2
FOR    NO KEY UPDATE;

-- sql/claim.sql
-- claim: changes the rows that claim_lock.sql locked, which stay ready
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: given by int, 2: batch ID
UPDATE /* raiseq.Claim */ jobs
SET    priority = (priority + $1::integer)
WHERE  id = ANY ($2::bigint[])
RETURNING id, host, state, priority, till, reason;

-- sql/claim_insert_erased.sql
-- claim: inserts rows into erased for the rows that claim_lock.sql locked, before claim.sql
-- locks: the rows it writes, until commit
-- index: the key
-- arguments: 1: batch ID
INSERT /* raiseq.Claim */ INTO erased
       (id, host, at)
SELECT held.id, held.host, now()
FROM   jobs AS held
WHERE  held.id = ANY ($1::bigint[]);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* raiseq.Stats */
       count(*) AS ready
FROM   jobs;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- arguments: 1: param id int64, 2: limit
SELECT /* raiseq.Peek */
       id, host, state, priority, till, reason
FROM   jobs
WHERE  id = $1
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* raiseq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* raiseq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('host', 'varchar'),
               ('state', 'varchar'),
               ('priority', 'bigint'),
               ('till', 'timestamptz'),
               ('reason', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('jobs')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of erased
-- locks: none
SELECT /* raiseq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('host', 'varchar'),
               ('at', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('erased')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* raiseq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('jobs_pkey')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('jobs')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: the only row of each value that is asked for: jobs_pkey serves already
