-- Package heapsq uses the table heaps as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
--
-- Jobs are claimed by the strategy hold: strategy=hold is asked for.
--
-- The row lock is the claim: nobody else can take or settle a job while its transaction is open.
--
-- It locks the rows it returns until the transaction ends and passes over rows that others hold. When a worker dies, its connection ends, the locks go, and the whole batch is ready again.
--
-- The claim is a row lock, so it lives in a transaction: a connection is held while jobs run, and a crash gives the whole batch back. It is made for short jobs.
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
-- note: rows are taken in any order: nothing orders them
-- note: enqueue=absent leaves a job out where a row is like it in name (unique key heaps_name_key)
-- note: warning: a row that is held keeps those out that are like it in name, and leaves when its job is complete: if the worker has read before what the job is about, what Enqueue left out meanwhile is done by nobody; call Complete right behind Claim, before that is read, and Enqueue waits for the transaction and adds the job

-- sql/claim.sql
-- claim: ready rows, held by their locks; nothing is written
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: heaps_name_key (name)
-- isolation: read committed
-- arguments: 1: held RowID, 2: limit
SELECT /* heapsq.Claim */
       ctid, name
FROM   heaps
WHERE  ctid <> ALL ($1::tid[])
LIMIT  $2
FOR    UPDATE SKIP LOCKED;

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch RowID
DELETE /* heapsq.Complete */ FROM heaps
WHERE  ctid = ANY ($1::tid[])
RETURNING ctid;

-- sql/enqueue.sql
-- enqueue: a new ready row, unless a row stands in its way by a unique key: then it adds none
-- locks: the new row, until commit; waits for a transaction that adds or deletes one of the same unique key
-- arguments: 1: new Name
INSERT /* heapsq.Enqueue */ INTO heaps
       (name)
VALUES ($1)
ON     CONFLICT DO NOTHING;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* heapsq.Stats */
       count(*) AS ready
FROM   heaps;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: heaps_name_key (name)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* heapsq.Peek */
       ctid, name
FROM   heaps
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* heapsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* heapsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('name', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('heaps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* heapsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';
