-- Package looseq uses the table loose as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
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
-- note: there is no primary key and no unique key without nulls, so a row is named by its physical place, which is good inside one transaction only
-- note: nothing in the DDL of heads tells that payload_from names one row at most; of several one is read, whichever it is
-- note: rows are taken in any order: nothing orders them

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then deletes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
SELECT /* looseq.Claim */
       ctid, body_id
FROM   loose
LIMIT  $1
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch RowID
DELETE /* looseq.Claim */ FROM loose
WHERE  ctid = ANY ($1::tid[]);

-- sql/payload.sql
-- payload: what claimed jobs have in heads
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch RowID
SELECT /* looseq.Payload */
       loose.ctid, heads.subject
FROM   loose
       LEFT JOIN heads
       ON  (heads.body_id = loose.body_id)
WHERE  loose.ctid = ANY ($1::tid[]);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new BodyID
INSERT /* looseq.Enqueue */ INTO loose
       (body_id)
VALUES ($1);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch BodyID
INSERT /* looseq.EnqueueMany */ INTO loose
       (body_id)
SELECT body_id_new
FROM   unnest($1::bigint[]) WITH ORDINALITY AS job (body_id_new, job_order)
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* looseq.Stats */
       count(*) AS ready
FROM   loose;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
SELECT /* looseq.Peek */
       ctid, body_id
FROM   loose
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* looseq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* looseq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('body_id', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('loose')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_payload.sql
-- verify: columns of heads
-- locks: none
SELECT /* looseq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('subject', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('heads')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* looseq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
