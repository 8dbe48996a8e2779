-- Package retiredq uses the table retired as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing until it commits. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
--
-- Besides the queue's own rows it writes archive (Claim); totals (Claim), each in the transaction of the operation.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates retired_ready.
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
-- note: rows are taken as they came, by column "id"

-- sql/claim_lock.sql
-- claim: reads ready rows, which claim.sql then deletes
-- locks: none of its own; reserve.sql has locked the database for writing
-- index: (kind, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind int64, 2: limit
SELECT /* retiredq.Claim */
       id, kind
FROM   retired
WHERE  kind = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/claim.sql
-- claim: ready to gone, of the rows that claim_lock.sql locked
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
DELETE /* retiredq.Claim */ FROM retired
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/claim_move.sql
-- claim: the rows that claim_lock.sql locked go to archive before claim.sql deletes them
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all ID
INSERT /* retiredq.Claim */ INTO archive
       (id, kind)
SELECT held.id, held.kind
FROM   retired AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1));

-- sql/claim_update_totals.sql
-- claim: updates rows of totals for the rows that claim_lock.sql locked, before claim.sql; jobs that share one are added up
-- locks: the database for writing, while the statement runs
-- index: the key; of totals one that begins with kind
-- arguments: 1: batch_all ID
UPDATE /* retiredq.Claim */ totals
SET    gone = (totals.gone + shared.jobs)
FROM   (
       SELECT held.kind AS of_kind,
              count(*) AS jobs
       FROM   retired AS held
WHERE  held.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
       GROUP  BY held.kind
       ) AS shared
WHERE  totals.kind = shared.of_kind;

-- sql/reserve.sql
-- reserve: takes the lock for writing at the beginning of a transaction that reads first
-- locks: the database for writing, until commit
-- index: none; it reads nothing
DELETE /* retiredq.Reserve */ FROM retired
WHERE  0;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind
INSERT /* retiredq.Enqueue */ INTO retired
       (kind)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind
INSERT /* retiredq.EnqueueMany */ INTO retired
       (kind)
SELECT kind_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS kind_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* retiredq.Stats */
       count(*) AS ready
FROM   retired;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same kind is for
-- locks: none
-- index: (kind, id)
-- arguments: 1: param kind int64
SELECT /* retiredq.StatsOf */
       count(*) AS ready
FROM   retired
WHERE  kind = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by kind
-- locks: none
-- index: none; it reads the whole table
SELECT /* retiredq.Backlog */
       kind,
       count(*) AS ready
FROM   retired
GROUP  BY kind
ORDER  BY kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (kind, id); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind int64, 2: limit
SELECT /* retiredq.Peek */
       id, kind
FROM   retired
WHERE  kind = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* retiredq.Verify */
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
WITH /* retiredq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('kind', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('retired') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also.sql
-- verify: columns of archive
-- locks: none
WITH /* retiredq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('kind', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('archive') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_columns_also2.sql
-- verify: columns of totals
-- locks: none
WITH /* retiredq.Verify */ want (name, type) AS (
    VALUES ('gone', 'INTEGER'),
           ('kind', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('totals') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* retiredq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('retired_ready', 'kind, id', 'kind', '')
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
    FROM   pragma_index_list('retired') AS l
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
CREATE INDEX retired_ready ON retired (kind, id);
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
