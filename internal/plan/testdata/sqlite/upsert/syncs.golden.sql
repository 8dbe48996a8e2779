-- Package syncsq uses the table syncs as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> held
-- 	held     --Complete--------> (deleted)
-- 	held     --Fail------------> ready
--
-- Jobs are claimed by the strategy partition: strategy=partition is asked for.
--
-- Nothing in the row tells claims apart: the shard alone keeps workers from doing a job twice, so give every shard to one worker.
--
-- It takes no locks. A worker that dies leaves its jobs as they were; they are read again by whoever gets its shard.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates syncs_ready.
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
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: enqueue=update changes the row that is like a new job in library, key, object (primary key): last_check = unixepoch(), tries = coalesce(tries, 0) + 1
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job
-- note: rows without a value in column "last_check" stand first in the order, where SQLite puts nulls (nulls=last puts them last)

-- sql/claim.sql
-- claim: the ready rows of one shard; nothing is written
-- locks: none; the shard keeps workers apart
-- index: (library, object, last_check, "key"); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param library int64, 2: param object int64, 3: shards, 4: shard, 5: limit
SELECT /* syncsq.Claim */
       library, "key", object, last_check, tries
FROM   syncs
WHERE  library = ?1
AND    object = ?2
AND    ((coalesce(library, 0) % ?3) + ?3) % ?3 = ?4
ORDER  BY last_check, library, "key", object
LIMIT  ?5;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Library KeyValue Object
DELETE /* syncsq.Complete */ FROM syncs
WHERE  (library, "key", object) IN (
           SELECT json_extract(value, '$[0]') AS library_held,
                  json_extract(value, '$[1]') AS key_held,
                  json_extract(value, '$[2]') AS object_held
           FROM   json_each(?1))
RETURNING library, "key", object;

-- sql/retry.sql
-- retry: running to ready, one try used
-- locks: the database for writing, while the statement runs
-- index: the key
-- arguments: 1: batch_all Library KeyValue Object
UPDATE /* syncsq.Fail */ syncs
SET    last_check = unixepoch(),
       tries = coalesce(tries, 0) + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS library_held,
                  json_extract(value, '$[1]') AS key_held,
                  json_extract(value, '$[2]') AS object_held
           FROM   json_each(?1)
       ) AS job
WHERE  library = library_held
AND    "key" = key_held
AND    object = object_held
RETURNING library, "key", object;

-- sql/enqueue.sql
-- enqueue: a new ready row; or what it changes of the row that is like it in library, key, object (primary key)
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Library, 2: new KeyValue, 3: new Object
INSERT /* syncsq.Enqueue */ INTO syncs
       (library, "key", object, last_check, tries)
VALUES (?1, ?2, ?3, unixepoch(), 0)
ON     CONFLICT (library, "key", object) DO UPDATE
SET    last_check = unixepoch(),
       tries = coalesce(syncs.tries, 0) + 1
RETURNING library, "key", object;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* syncsq.Stats */
       count(*) AS ready
FROM   syncs;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same library and object is for
-- locks: none
-- index: (library, object, last_check, "key")
-- arguments: 1: param library int64, 2: param object int64
SELECT /* syncsq.StatsOf */
       count(*) AS ready
FROM   syncs
WHERE  library = ?1
AND    object = ?2;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by library and object
-- locks: none
-- index: none; it reads the whole table
SELECT /* syncsq.Backlog */
       library,
       object,
       count(*) AS ready
FROM   syncs
GROUP  BY library, object
ORDER  BY library, object;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (library, object, last_check, "key"); until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param library int64, 2: param object int64, 3: shards, 4: shard, 5: limit
SELECT /* syncsq.Peek */
       library, "key", object, last_check, tries
FROM   syncs
WHERE  library = ?1
AND    object = ?2
AND    ((coalesce(library, 0) % ?3) + ?3) % ?3 = ?4
ORDER  BY last_check, library, "key", object
LIMIT  ?5;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* syncsq.Verify */
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
WITH /* syncsq.Verify */ want (name, type) AS (
    VALUES ('library', 'INT'),
           ('key', 'TEXT'),
           ('object', 'INT'),
           ('last_check', 'INT'),
           ('tries', 'INT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('syncs') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* syncsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('syncs_ready', 'library, object, last_check, key', 'library, object, last_check, key', '')
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
    FROM   pragma_index_list('syncs') AS l
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
CREATE INDEX syncs_ready ON syncs (library, object, last_check, "key");
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
