-- Package dropq uses the table events as a queue of jobs on SQLite 3.38 and later.
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
-- note: rows are taken in any order: nothing orders them

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: events_record (record_id)
-- arguments: 1: param recordID []string, 2: limit
DELETE /* dropq.Claim */ FROM events
WHERE  rowid IN (
           SELECT rowid
           FROM   events
           WHERE  reserved_until = 0
           AND    record_id IN (SELECT value FROM json_each(?1))
           LIMIT  ?2)
RETURNING rowid, record_id, latency, timestamp;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new RecordID, 2: new Latency, 3: new Timestamp
INSERT /* dropq.Enqueue */ INTO events
       (record_id, latency, timestamp)
VALUES (?1, ?2, ?3);

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all RecordID Latency Timestamp
INSERT /* dropq.EnqueueMany */ INTO events
       (record_id, latency, timestamp)
SELECT record_id_new, latency_new, timestamp_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS record_id_new,
                  json_extract(value, '$[1]') AS latency_new,
                  json_extract(value, '$[2]') AS timestamp_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: events_ready (latency DESC, timestamp, record_id) WHERE reserved_until = 0
SELECT /* dropq.Stats */
       count(*) AS ready
FROM   events
WHERE  reserved_until = 0;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same record_id is for
-- locks: none
-- index: events_ready (latency DESC, timestamp, record_id) WHERE reserved_until = 0; it reads others as well
-- arguments: 1: param recordID []string
SELECT /* dropq.StatsOf */
       count(*) AS ready
FROM   events
WHERE  reserved_until = 0
AND    record_id IN (SELECT value FROM json_each(?1));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by record_id
-- locks: none
-- index: events_ready (latency DESC, timestamp, record_id) WHERE reserved_until = 0
SELECT /* dropq.Backlog */
       record_id,
       count(*) AS ready
FROM   events
WHERE  reserved_until = 0
GROUP  BY +record_id
ORDER  BY +record_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: events_record (record_id)
-- arguments: 1: param recordID []string, 2: limit
SELECT /* dropq.Peek */
       rowid, record_id, latency, timestamp
FROM   events
WHERE  reserved_until = 0
AND    record_id IN (SELECT value FROM json_each(?1))
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* dropq.Verify */
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
WITH /* dropq.Verify */ want (name, type) AS (
    VALUES ('record_id', 'TEXT'),
           ('latency', 'INTEGER'),
           ('timestamp', 'INTEGER'),
           ('reserved_until', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('events') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* dropq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('events_record', 'record_id', 'record_id', '')
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
    FROM   pragma_index_list('events') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: the rows of each value that is asked for; rows that are not ready are read and passed over: events_record serves already
