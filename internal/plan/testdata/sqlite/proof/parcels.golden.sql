-- Package parcelsq uses the table parcels as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level token: every claim leaves a random value in the row, and a job can only be settled with the value of its own claim. A worker that comes late gets ErrLost and changes nothing.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates parcels_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        not needed: returning comes first
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (depot, grade, size, "no", due, kind) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Mark, 2: param depot string, 3: param kind []string, 4: limit
UPDATE /* parcelsq.Claim */ parcels
SET    state = 'A',
       mark = ?1
WHERE  rowid IN (
           SELECT rowid
           FROM   parcels
           WHERE  state = 'N'
           AND    due <= unixepoch()
           AND    depot = ?2
           AND    kind NOT IN (SELECT value FROM json_each(?3))
           ORDER  BY grade, depot, size, "no"
           LIMIT  ?4)
RETURNING depot, size, "no", kind, grade, weight, code, tag, link, mark, due;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (depot, grade, size, "no", due, kind) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: token Mark, 2: param depot string, 3: param kind []string
UPDATE /* parcelsq.Claim */ parcels
SET    state = 'A',
       mark = ?1
WHERE  rowid = (
           SELECT rowid
           FROM   parcels
           WHERE  state = 'N'
           AND    due <= unixepoch()
           AND    depot = ?2
           AND    kind NOT IN (SELECT value FROM json_each(?3))
           ORDER  BY grade, depot, size, "no"
           LIMIT  1)
RETURNING depot, size, "no", kind, grade, weight, code, tag, link, mark, due;

-- sql/complete.sql
-- complete: running to done
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Depot Size No Mark
UPDATE /* parcelsq.Complete */ parcels
SET    state = 'C'
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS size_held,
                  json_extract(value, '$[2]') AS no_held,
                  json_extract(value, '$[3]') AS mark_held
           FROM   json_each(?1)
       ) AS job
WHERE  depot = depot_held
AND    size = size_held
AND    "no" = no_held
AND    +(mark = mark_held
      AND    state = 'A')
RETURNING depot, size, "no";

-- sql/retry.sql
-- retry: running to ready
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Depot Size No Mark
UPDATE /* parcelsq.Fail */ parcels
SET    state = 'N',
       mark = NULL,
       due = CAST(unixepoch() + ?1 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS size_held,
                  json_extract(value, '$[2]') AS no_held,
                  json_extract(value, '$[3]') AS mark_held
           FROM   json_each(?2)
       ) AS job
WHERE  depot = depot_held
AND    size = size_held
AND    "no" = no_held
AND    +(mark = mark_held
      AND    state = 'A')
RETURNING depot, size, "no";

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: mark as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Depot Size No Mark
UPDATE /* parcelsq.Requeue */ parcels
SET    state = 'N',
       mark = NULL,
       due = CASE WHEN ?1 > 0.0 THEN CAST(unixepoch() + ?1 AS INTEGER) ELSE due END
FROM   (
           SELECT json_extract(value, '$[0]') AS depot_held,
                  json_extract(value, '$[1]') AS size_held,
                  json_extract(value, '$[2]') AS no_held,
                  json_extract(value, '$[3]') AS mark_held
           FROM   json_each(?2)
       ) AS job
WHERE  depot = depot_held
AND    size = size_held
AND    "no" = no_held
AND    +(mark = mark_held
      AND    state = 'A')
RETURNING depot, size, "no";

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (depot, size, "no") WHERE state = 'C' would find them
-- arguments: 1: limit
DELETE /* parcelsq.Purge */ FROM parcels
WHERE  rowid IN (
           SELECT rowid
           FROM   parcels
           WHERE  state = 'C'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Depot, 2: new Size, 3: new No, 4: new Kind, 5: new Grade, 6: new Weight, 7: new Code, 8: new Tag, 9: new Link, 10: new Due
INSERT /* parcelsq.Enqueue */ INTO parcels
       (depot, size, "no", kind, grade, weight, code, tag, link, due)
VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, 10), coalesce(?7, 'x'), ?8, ?9,
        coalesce(?10, (unixepoch() + 3600)))
RETURNING depot, size, "no";

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Depot Size No Kind Grade Weight Code Tag Link Due
INSERT /* parcelsq.EnqueueMany */ INTO parcels
       (depot, size, "no", kind, grade, weight, code, tag, link, due)
SELECT depot_new, size_new, no_new, kind_new, grade_new, coalesce(weight_new, 10),
       coalesce(code_new, 'x'), tag_new, link_new, coalesce(due_new, (unixepoch() + 3600))
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS depot_new,
                  json_extract(value, '$[1]') AS size_new,
                  json_extract(value, '$[2]') AS no_new,
                  json_extract(value, '$[3]') AS kind_new,
                  json_extract(value, '$[4]') AS grade_new,
                  json_extract(value, '$[5]') AS weight_new,
                  json_extract(value, '$[6]') AS code_new,
                  json_extract(value, '$[7]') AS tag_new,
                  json_extract(value, '$[8]') AS link_new,
                  json_extract(value, '$[9]') AS due_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING depot, size, "no";

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* parcelsq.Stats */
       count(*) FILTER (WHERE state = 'N' AND due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'N' AND due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE state = 'N' AND due <= unixepoch())) AS oldest_ready
FROM   parcels;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same depot and kind is for
-- locks: none
-- index: the primary key (depot, size, "no")
-- arguments: 1: param depot string, 2: param kind []string
SELECT /* parcelsq.StatsOf */
       count(*) FILTER (WHERE state = 'N' AND due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE state = 'A') AS running,
       count(*) FILTER (WHERE state = 'C') AS done,
       count(*) FILTER (WHERE state = 'N' AND due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE state = 'N' AND due <= unixepoch())) AS oldest_ready
FROM   parcels
WHERE  depot = ?1
AND    kind NOT IN (SELECT value FROM json_each(?2));

-- sql/backlog.sql
-- backlog: counts the rows that wait, by depot and kind
-- locks: none
-- index: (depot, grade, size, "no", due, kind) WHERE state = 'N'
SELECT /* parcelsq.Backlog */
       depot,
       kind,
       count(*) FILTER (WHERE due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE due <= unixepoch())) AS oldest_ready
FROM   parcels
WHERE  state = 'N'
GROUP  BY +depot, +kind
ORDER  BY +depot, +kind;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (depot, grade, size, "no", due, kind) WHERE state = 'N'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param depot string, 2: param kind []string, 3: limit
SELECT /* parcelsq.Peek */
       depot, size, "no", kind, grade, weight, code, tag, link, due
FROM   parcels
WHERE  state = 'N'
AND    due <= unixepoch()
AND    depot = ?1
AND    kind NOT IN (SELECT value FROM json_each(?2))
ORDER  BY grade, depot, size, "no"
LIMIT  ?3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* parcelsq.Verify */
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
WITH /* parcelsq.Verify */ want (name, type) AS (
    VALUES ('depot', 'text'),
           ('size', 'text'),
           ('no', 'integer'),
           ('kind', 'text'),
           ('grade', 'integer'),
           ('weight', 'integer'),
           ('code', 'text'),
           ('tag', 'text'),
           ('link', 'text'),
           ('state', 'text'),
           ('mark', 'text'),
           ('due', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('parcels') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* parcelsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('parcels_ready', 'depot, grade, size, no', 'depot, grade, size, no', 'state=''n''')
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
    FROM   pragma_index_list('parcels') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it; rows of another kind are passed over in it
CREATE INDEX parcels_ready ON parcels (depot, grade, size, "no", due, kind)
WHERE  state = 'N';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
