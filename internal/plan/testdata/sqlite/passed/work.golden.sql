-- Package workq uses the table calls as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: a job belongs to whoever took it.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies loses the jobs it took, but for those of a caller's transaction that is rolled back.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates calls_any_ready.
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
-- index: (id) WHERE taker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
UPDATE /* workq.Claim */ calls
SET    taker = 'work'
WHERE  id IN (
           SELECT id
           FROM   calls
           WHERE  taker IS NULL
           AND    (kind <> ?1)
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, kind;

-- sql/enqueue.sql
-- enqueue: a new row, ready while the conditions of the queue hold
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Kind
INSERT /* workq.Enqueue */ INTO calls
       (kind)
VALUES (?1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new rows, ready while the conditions of the queue hold, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Kind
INSERT /* workq.EnqueueMany */ INTO calls
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
SELECT /* workq.Stats */
       count(*) FILTER (WHERE taker IS NULL) AS ready,
       count(*) FILTER (WHERE taker = 'work') AS done
FROM   calls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE taker IS NULL
SELECT /* workq.Backlog */
       count(*) AS ready
FROM   calls
WHERE  taker IS NULL;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE taker IS NULL; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param kind string, 2: limit
SELECT /* workq.Peek */
       id, kind
FROM   calls
WHERE  taker IS NULL
AND    (kind <> ?1)
ORDER  BY id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* workq.Verify */
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
WITH /* workq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('kind', 'TEXT'),
           ('taker', 'TEXT')
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

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* workq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('calls_any_ready', 'id', 'id', 'takerisnull')
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

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that a condition of the queue refuses are read and passed over
-- anyq advises the same
CREATE INDEX calls_any_ready ON calls (id)
WHERE  taker IS NULL;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
