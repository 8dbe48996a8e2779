-- Package leasedq uses the table leased as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time and worker of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates leased_ready and leased_expired.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    one statement writes at a time and returns what it changed
--   block        SQLite has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  SQLite locks the whole database, not rows
--   advisory     SQLite has no locks on numbers
--   guarded      not needed: returning comes first
--   pop          a taken row is gone, so it must be asked for
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: rows are taken as they came, by column "id"
-- note: the fence compares column "until", which counts whole seconds: two claims within one second look alike
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder, 2: limit
UPDATE /* leasedq.Claim */ leased
SET    holder = ?1,
       until = unixepoch() + 300
WHERE  id IN (
           SELECT id
           FROM   leased
           WHERE  holder = ''
           ORDER  BY id
           LIMIT  ?2)
RETURNING id, holder, until;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Holder
UPDATE /* leasedq.Claim */ leased
SET    holder = ?1,
       until = unixepoch() + 300
WHERE  id = (
           SELECT id
           FROM   leased
           WHERE  holder = ''
           ORDER  BY id
           LIMIT  1)
RETURNING id, holder, until;

-- sql/complete.sql
-- complete: running to done
-- fence: until, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Until Holder
DELETE /* leasedq.Complete */ FROM leased
WHERE  (id, until, holder) IN (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1))
AND    +(holder <> '')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: until, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Until Holder
UPDATE /* leasedq.Fail */ leased
SET    holder = '',
       until = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until = until_held
      AND    holder = holder_held
      AND    holder <> '')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: until, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Until Holder
UPDATE /* leasedq.Requeue */ leased
SET    holder = '',
       until = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until = until_held
      AND    holder = holder_held
      AND    holder <> '')
RETURNING id;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: until, holder as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID Until Holder
UPDATE /* leasedq.Extend */ leased
SET    until = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS until_held,
                  json_extract(value, '$[2]') AS holder_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(until = until_held
      AND    holder = holder_held
      AND    holder <> '')
RETURNING id, until;

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the database for writing, while the statement runs
-- index: (until) WHERE holder <> ''; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* leasedq.Recover */ leased
SET    holder = '',
       until = 0
WHERE  id IN (
           SELECT id
           FROM   leased
           WHERE  holder <> ''
           AND    until <= unixepoch()
           AND    until > 0
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* leasedq.Enqueue */ INTO leased
       (holder)
VALUES ('')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* leasedq.Stats */
       count(*) FILTER (WHERE holder = '') AS ready,
       count(*) FILTER (WHERE holder <> '') AS running,
       count(*) FILTER (WHERE holder <> '' AND until <= unixepoch() AND until > 0) AS expired
FROM   leased;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE holder = ''; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* leasedq.Peek */
       id, holder, until
FROM   leased
WHERE  holder = ''
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* leasedq.Verify */
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
WITH /* leasedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('holder', 'TEXT'),
           ('until', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('leased') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* leasedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('leased_ready', 'id', 'id', 'holder='''''),
           ('leased_expired', 'until', 'until', 'holder<>''''')
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
    FROM   pragma_index_list('leased') AS l
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
CREATE INDEX leased_ready ON leased (id)
WHERE  holder = '';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX leased_expired ON leased (until)
WHERE  holder <> '';
