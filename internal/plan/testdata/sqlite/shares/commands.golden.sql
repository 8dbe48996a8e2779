-- Package commandsq uses the table commands as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> (error_commands)
--
-- Jobs are claimed by the strategy partition: strategy=partition is asked for.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- Besides the queue's own rows it writes error_commands (Fail), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates commands_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       strategy=partition is asked for
--   lease_table  strategy=partition is asked for
--   hold         strategy=partition is asked for
-- * partition    strategy=partition is asked for
--   returning    strategy=partition is asked for
--   block        strategy=partition is asked for
--   token        strategy=partition is asked for
--   lock_update  strategy=partition is asked for
--   advisory     strategy=partition is asked for
--   guarded      strategy=partition is asked for
--   pop          strategy=partition is asked for
-- note: no column counts tries, so Fail is for good at the first error; qgen:attempts has it tried again

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: (priority, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* commandsq.Claim */
       id, what, priority
FROM   commands
WHERE  ((coalesce(id, 0) % ?1) + ?1) % ?1 = ?2
ORDER  BY priority, id
LIMIT  ?3;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* commandsq.Complete */ FROM commands
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/fail_lock.sql
-- fail: locks the rows of jobs whose claims are still theirs, which fail.sql then writes
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
SELECT /* commandsq.Fail */
       id
FROM   commands
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/fail_move.sql
-- fail: the rows that fail_lock.sql locked go to error_commands before fail.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: error, 2: batch_all ID
INSERT /* commandsq.Fail */ INTO error_commands
       (id, what, message)
SELECT held.id, held.what, ?1
FROM   commands AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?2));

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* commandsq.Fail */ FROM commands
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
RETURNING id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* commandsq.Reserve */ FROM commands
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new What, 2: new Priority
INSERT /* commandsq.Enqueue */ INTO commands
       (what, priority)
VALUES (?1, coalesce(?2, 2))
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all What Priority
INSERT /* commandsq.EnqueueMany */ INTO commands
       (what, priority)
SELECT what_new, coalesce(priority_new, 2)
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS what_new,
                  json_extract(value, '$[1]') AS priority_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* commandsq.Stats */
       count(*) AS ready
FROM   commands;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: shards, 2: shard, 3: limit
SELECT /* commandsq.Peek */
       id, what, priority
FROM   commands
WHERE  ((coalesce(id, 0) % ?1) + ?1) % ?1 = ?2
ORDER  BY priority, id
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* commandsq.Verify */
       'the library is SQLite ' || sqlite_version() || ', the package needs 3.38'
FROM   (
           SELECT CAST(substr(v, 1, instr(v, '.') - 1) AS INTEGER) AS major,
                  CAST(substr(v, instr(v, '.') + 1) AS INTEGER) AS minor
           FROM   (SELECT sqlite_version() AS v)
       )
WHERE  (major, minor) < (3, 38);

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
WITH /* commandsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('what', 'TEXT'),
           ('priority', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('commands') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of error_commands
-- locks: none
WITH /* commandsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('what', 'TEXT'),
           ('message', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('error_commands') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* commandsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('commands_ready', 'priority, id', 'priority', '')
),
have (name, columns, predicate) AS (
    SELECT l.name,
           (SELECT group_concat(lower(coalesce(k.name, '?')) || CASE k."desc" WHEN 1 THEN ' desc' ELSE '' END, ', ')
            FROM   (SELECT x.name, x."desc" FROM pragma_index_xinfo(l.name) AS x WHERE x."key" = 1 ORDER BY x.seqno) AS k),
           CASE WHEN l.partial = 1 THEN (
               SELECT lower(replace(replace(replace(replace(replace(replace(replace(substr(s.text, instr(upper(s.text), ' WHERE ') + 7),
                      ' ', ''), '(', ''), ')', ''), '"', ''), '[', ''), ']', ''), '`', ''))
               FROM   (SELECT replace(replace(replace(m.sql, char(10), ' '), char(13), ' '), char(9), ' ') AS text FROM sqlite_master AS m WHERE m.type = 'index' AND m.name = l.name) AS s
           ) ELSE '' END
    FROM   pragma_index_list('commands') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX commands_ready ON commands (priority, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
