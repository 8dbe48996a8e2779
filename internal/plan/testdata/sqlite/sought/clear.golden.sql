-- Package clearq uses the table operation as a queue of jobs on SQLite 3.38 and later.
--
-- 	ready    --Claim-----------> (deleted)
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. Nothing is written later: what a worker would do with the jobs it took is lost when it dies, but for those of a caller's transaction that is rolled back.
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
-- note: there is no Enqueue: the queue "ops" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: ready to gone
-- locks: the database for writing, while the statement runs
-- index: operation_folder (folder)
-- arguments: 1: param folder int64, 2: limit
DELETE /* clearq.Claim */ FROM operation
WHERE  id IN (
           SELECT id
           FROM   operation INDEXED BY operation_folder
           WHERE  folder = ?1
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, account, folder, name, tries, state;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* clearq.Stats */
       count(*) AS ready
FROM   operation;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same folder is for
-- locks: none
-- index: operation_folder (folder)
-- arguments: 1: param folder int64
SELECT /* clearq.StatsOf */
       count(*) AS ready
FROM   operation
WHERE  folder = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by folder
-- locks: none
-- index: none; it reads the whole table
SELECT /* clearq.Backlog */
       folder,
       count(*) AS ready
FROM   operation
GROUP  BY folder
ORDER  BY folder;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: operation_folder (folder)
-- arguments: 1: param folder int64, 2: limit
SELECT /* clearq.Peek */
       id, account, folder, name, tries, state
FROM   operation INDEXED BY operation_folder
WHERE  folder = ?1
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* clearq.Verify */
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
WITH /* clearq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('account', 'integer'),
           ('folder', 'integer'),
           ('name', 'text'),
           ('tries', 'integer'),
           ('state', 'text')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('operation') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* clearq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('operation_folder', '', '', '')
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
    FROM   pragma_index_list('operation') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted: operation_folder serves already
