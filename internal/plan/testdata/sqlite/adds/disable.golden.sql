-- Package disableq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
--
-- Besides the queue's own rows it writes logs (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_disable_ready.
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
-- note: a row whose column "channel" is null is taken by no claim; any=null lets it suit everyone
-- note: rows are taken as they came, by column "id"
-- note: there is no Enqueue: the queue "calls" adds the rows that a claim takes here

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then deletes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: (channel, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param channel int64, 2: limit
SELECT /* disableq.Claim */
       id, channel, state, not_after
FROM   calls
WHERE  channel = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* disableq.Claim */ FROM calls
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/claim_update_logs.sql
-- claim: updates rows of logs for the rows that claim_lock.sql locked, before claim.sql
-- locks: the database for writing, while the statement runs
-- index: the key; of logs one that begins with id
-- arguments: 1: batch_all ID
UPDATE /* disableq.Claim */ logs
SET    state = 'cancelled'
FROM   calls AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    logs.id = held.id;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* disableq.Reserve */ FROM calls
WHERE  0;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* disableq.Stats */
       count(*) AS ready
FROM   calls;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same channel is for
-- locks: none
-- index: (channel, id)
-- arguments: 1: param channel int64
SELECT /* disableq.StatsOf */
       count(*) AS ready
FROM   calls
WHERE  channel = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by channel
-- locks: none
-- index: none; it reads the whole table
SELECT /* disableq.Backlog */
       channel,
       count(*) AS ready
FROM   calls
GROUP  BY channel
ORDER  BY channel;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (channel, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param channel int64, 2: limit
SELECT /* disableq.Peek */
       id, channel, state, not_after
FROM   calls
WHERE  channel = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* disableq.Verify */
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
WITH /* disableq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('channel', 'INTEGER'),
           ('state', 'TEXT'),
           ('not_after', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('calls') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of logs
-- locks: none
WITH /* disableq.Verify */ want (name, type) AS (
    VALUES ('state', 'TEXT'),
           ('id', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('logs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* disableq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('calls_disable_ready', 'channel, id', 'channel', '')
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
    FROM   pragma_index_list('calls') AS l
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
CREATE INDEX calls_disable_ready ON calls (channel, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
