-- Package flipsq uses the table flips as a queue of jobs on SQLite 3.38 and later.
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
-- The table needs an index that it does not have yet: schema/indexes.sql creates flips_ready.
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

-- sql/claim.sql
-- claim: ready to done
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE processed IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* flipsq.Claim */ flips
SET    processed = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   flips
           WHERE  processed IS NULL
           AND    (until_at > unixepoch() OR until_at IS NULL)
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, status, until_at;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (processed) WHERE processed IS NOT NULL would find them
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  id IN (
           SELECT id
           FROM   flips
           WHERE  processed IS NOT NULL
           AND    processed <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/purge_overdue.sql
-- purge_overdue: ready and past its time to gone
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE processed IS NULL; it reads those that are not old enough as well, which one on (until_at) WHERE processed IS NULL would not
-- arguments: 1: older, 2: limit
DELETE /* flipsq.Purge */ FROM flips
WHERE  id IN (
           SELECT id
           FROM   flips
           WHERE  processed IS NULL
           AND    until_at <= CAST(unixepoch() - ?1 AS INTEGER)
           LIMIT  ?2);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Status, 2: new UntilAt
INSERT /* flipsq.Enqueue */ INTO flips
       (status, until_at)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Status UntilAt
INSERT /* flipsq.EnqueueMany */ INTO flips
       (status, until_at)
SELECT status_new, until_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS status_new,
                  json_extract(value, '$[1]') AS until_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* flipsq.Stats */
       count(*) FILTER (WHERE processed IS NULL AND (until_at > unixepoch() OR until_at IS NULL)) AS ready,
       count(*) FILTER (WHERE processed IS NOT NULL) AS done
FROM   flips;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE processed IS NULL; it reads others as well
SELECT /* flipsq.Backlog */
       count(*) AS ready
FROM   flips
WHERE  processed IS NULL
AND    (until_at > unixepoch() OR until_at IS NULL);

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE processed IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* flipsq.Peek */
       id, status, until_at
FROM   flips
WHERE  processed IS NULL
AND    (until_at > unixepoch() OR until_at IS NULL)
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* flipsq.Verify */
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
WITH /* flipsq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('status', 'TEXT'),
           ('until_at', 'INTEGER'),
           ('processed', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('flips') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* flipsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('flips_ready', 'id', 'id', 'processedisnull')
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
    FROM   pragma_index_list('flips') AS l
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
CREATE INDEX flips_ready ON flips (id)
WHERE  processed IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
