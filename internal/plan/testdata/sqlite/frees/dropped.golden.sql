-- Package droppedq uses the table items as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until Recover of the queue imports over the same table takes them: nothing here tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates items_dropped_ready.
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
-- note: the fence compares column "claimed_at", which counts whole seconds: two claims within one second look alike
-- note: nothing here tells that a worker is gone, and there is no Recover: that of the queue imports over the same table takes the rows of dead workers
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: warning: nothing tells what runs here from what runs in the queue imports over the same table, so Recover there takes jobs of this queue as well whose claim has run out by the time that is said there, while they run: a value of its own for running, or a lasting qgen:where at both, tells them apart; or say the same time at both
-- note: warning: nothing tells what runs here from what runs in the queue staged over the same table, so Recover there takes jobs of this queue as well whose claim has run out by the time that is said there, while they run: a value of its own for running, or a lasting qgen:where at both, tells them apart; or say the same time at both

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'dropped'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* droppedq.Claim */ items
SET    state = 'busy',
       claimed_at = unixepoch()
WHERE  id IN (
           SELECT id
           FROM   items
           WHERE  state = 'dropped'
           ORDER  BY id
           LIMIT  ?1)
RETURNING id, claimed_at;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (id) WHERE state = 'dropped'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* droppedq.Claim */ items
SET    state = 'busy',
       claimed_at = unixepoch()
WHERE  id = (
           SELECT id
           FROM   items
           WHERE  state = 'dropped'
           ORDER  BY id
           LIMIT  1)
RETURNING id, claimed_at;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt
UPDATE /* droppedq.Complete */ items
SET    state = 'done'
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claimed_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claimed_at = claimed_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/retry.sql
-- retry: running to ready
-- fence: claimed_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt
UPDATE /* droppedq.Fail */ items
SET    state = 'dropped',
       claimed_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claimed_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claimed_at = claimed_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_at as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt
UPDATE /* droppedq.Requeue */ items
SET    state = 'dropped',
       claimed_at = NULL
FROM   (
           SELECT json_extract(value, '$[0]') AS id_held,
                  json_extract(value, '$[1]') AS claimed_at_held
           FROM   json_each(?1)
       ) AS job
WHERE  id = id_held
AND    +(claimed_at = claimed_at_held
      AND    state = 'busy')
RETURNING id;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
INSERT /* droppedq.Enqueue */ INTO items
       (state)
VALUES ('dropped')
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* droppedq.Stats */
       count(*) FILTER (WHERE state = 'dropped') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'done') AS done,
       (unixepoch() - min(claimed_at) FILTER (WHERE state = 'busy')) AS oldest_running
FROM   items;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (id) WHERE state = 'dropped'
SELECT /* droppedq.Backlog */
       count(*) AS ready
FROM   items
WHERE  state = 'dropped';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (id) WHERE state = 'dropped'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* droppedq.Peek */
       id
FROM   items
WHERE  state = 'dropped'
ORDER  BY id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* droppedq.Verify */
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
WITH /* droppedq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('state', 'TEXT'),
           ('claimed_at', 'INTEGER')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('items') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* droppedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('items_dropped_ready', 'id', 'id', 'state=''dropped''')
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
    FROM   pragma_index_list('items') AS l
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
CREATE INDEX items_dropped_ready ON items (id)
WHERE  state = 'dropped';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
