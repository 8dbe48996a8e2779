-- Package poppedq uses the table popped as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates popped_ready.
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
-- note: times of column "at" are text as "2006-01-02 15:04:05" in UTC, which is what its default writes
-- note: rows that are equal in at are taken in any order: the table has no key

-- sql/claim.sql
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: (at) WHERE state IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* poppedq.Claim */ popped
SET    state = 1
WHERE  rowid IN (
           SELECT rowid
           FROM   popped
           WHERE  state IS NULL
           ORDER  BY at
           LIMIT  ?1)
RETURNING rowid, at, line;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (at) WHERE state = 1 would find them
-- arguments: 1: older, 2: limit
DELETE /* poppedq.Purge */ FROM popped
WHERE  rowid IN (
           SELECT rowid
           FROM   popped
           WHERE  state = 1
           AND    at <= strftime('%Y-%m-%d %H:%M:%S', 'now', printf('%+.3f seconds', -(?1)))
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Line
INSERT /* poppedq.Enqueue */ INTO popped
       (at, line)
VALUES (strftime('%Y-%m-%d %H:%M:%S', 'now'), ?1);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* poppedq.Stats */
       count(*) FILTER (WHERE state IS NULL) AS ready,
       count(*) FILTER (WHERE state = 1) AS done,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(at) FILTER (WHERE state IS NULL))) * 86400.0) AS oldest_ready
FROM   popped;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (at) WHERE state IS NULL
SELECT /* poppedq.Backlog */
       count(*) AS ready,
       ((julianday(strftime('%Y-%m-%d %H:%M:%S', 'now')) - julianday(min(at))) * 86400.0) AS oldest_ready
FROM   popped
WHERE  state IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (at) WHERE state IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* poppedq.Peek */
       rowid, at, line
FROM   popped
WHERE  state IS NULL
ORDER  BY at
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* poppedq.Verify */
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
WITH /* poppedq.Verify */ want (name, type) AS (
    VALUES ('at', 'TEXT'),
           ('state', 'BOOLEAN'),
           ('line', 'BLOB')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('popped') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* poppedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('popped_ready', 'at', 'at', 'stateisnull')
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
    FROM   pragma_index_list('popped') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX popped_ready ON popped (at)
WHERE  state IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
