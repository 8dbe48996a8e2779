-- Package messagesq uses the table messages as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates messages_ready.
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

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: (channel, made, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param before int64, 2: param channel string, 3: limit
DELETE /* messagesq.Claim */ FROM messages
WHERE  id IN (
           SELECT id
           FROM   messages
           WHERE  (made < ?1)
           AND    channel = ?2
           ORDER  BY made, id
           LIMIT  ?3)
RETURNING id, channel, body, made;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Channel, 2: new Body, 3: new Made
INSERT /* messagesq.Enqueue */ INTO messages
       (channel, body, made)
VALUES (?1, ?2, ?3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Channel Body Made
INSERT /* messagesq.EnqueueMany */ INTO messages
       (channel, body, made)
SELECT channel_new, body_new, made_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS channel_new,
                  json_extract(value, '$[1]') AS body_new,
                  json_extract(value, '$[2]') AS made_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Stats */
       count(*) AS ready
FROM   messages;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same channel is for
-- locks: none
-- index: (channel, made, id)
-- arguments: 1: param channel string
SELECT /* messagesq.StatsOf */
       count(*) AS ready
FROM   messages
WHERE  channel = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by channel
-- locks: none
-- index: none; it reads the whole table
SELECT /* messagesq.Backlog */
       channel,
       count(*) AS ready
FROM   messages
GROUP  BY channel
ORDER  BY channel;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (channel, made, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param before int64, 2: param channel string, 3: limit
SELECT /* messagesq.Peek */
       id, channel, body, made
FROM   messages
WHERE  (made < ?1)
AND    channel = ?2
ORDER  BY made, id
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messagesq.Verify */
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
WITH /* messagesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('channel', 'TEXT'),
           ('body', 'TEXT'),
           ('made', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('messages') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* messagesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('messages_ready', 'channel, made, id', 'channel, made', '')
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
    FROM   pragma_index_list('messages') AS l
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
CREATE INDEX messages_ready ON messages (channel, made, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
