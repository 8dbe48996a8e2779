-- Package stagesq uses the table stages as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level status: a job can only be settled while its row is running. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job. A new row can get the id of one that was deleted, and a worker that comes late, after its job was finished by another, can then settle the new one: AUTOINCREMENT or a token column would tell them apart.
--
-- Of the jobs that are alike in order_id, one runs at once, and in their order: a job is not claimed while one before it is not finished, be it that it runs or waits for its next try; one claim writes at a time and counts what is running.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates stages_ready and stages_group and stages_line.
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
--   guarded      the running rows of a group are counted by the statement that takes the rows
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for order_id has it read rows of one group alone
-- note: no column counts tries, so Fail is for good at the first error; Requeue puts a job back (qgen:attempts)
-- note: warning: column "id" gives numbers of deleted rows again, and rows of jobs that have ended are deleted: a worker that comes late can settle the new job with the number of its old one (write INTEGER PRIMARY KEY AUTOINCREMENT, or mark a column with qgen:token)

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: ((kind = 'last'), id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* stagesq.Claim */ stages
SET    state = 'busy'
WHERE  id IN (
           SELECT id
           FROM   stages
           WHERE  state = 'new'
           AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'new', 0.99)
               AND    likelihood((other.kind = 'last') < (stages.kind = 'last') OR (other.kind = 'last') = (stages.kind = 'last') AND other.id < stages.id, 0.99))
           ORDER  BY (kind = 'last'), id
           LIMIT  ?1)
RETURNING id, order_id, kind;

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: ((kind = 'last'), id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* stagesq.Claim */ stages
SET    state = 'busy'
WHERE  id = (
           SELECT id
           FROM   stages
           WHERE  state = 'new'
           AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'busy', 0.99))
           AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'new', 0.99)
               AND    likelihood((other.kind = 'last') < (stages.kind = 'last') OR (other.kind = 'last') = (stages.kind = 'last') AND other.id < stages.id, 0.99))
           ORDER  BY (kind = 'last'), id
           LIMIT  1)
RETURNING id, order_id, kind;

-- sql/complete.sql
-- complete: running to done
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
DELETE /* stagesq.Complete */ FROM stages
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* stagesq.Fail */ stages
SET    state = 'dead'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* stagesq.Requeue */ stages
SET    state = 'new'
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(state = 'busy')
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* stagesq.Redrive */ stages
SET    state = 'new'
WHERE  id IN (
           SELECT id
           FROM   stages
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (id) WHERE state = 'dead' would find them
-- arguments: 1: limit
DELETE /* stagesq.Purge */ FROM stages
WHERE  id IN (
           SELECT id
           FROM   stages
           WHERE  state = 'dead'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new OrderID, 2: new Kind
INSERT /* stagesq.Enqueue */ INTO stages
       (order_id, kind)
VALUES (?1, ?2)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all OrderID Kind
INSERT /* stagesq.EnqueueMany */ INTO stages
       (order_id, kind)
SELECT order_id_new, kind_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS order_id_new,
                  json_extract(value, '$[1]') AS kind_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* stagesq.Stats */
       count(*) FILTER (WHERE state = 'new') AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'dead') AS failed
FROM   stages;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: ((kind = 'last'), id, order_id) WHERE state = 'new'
SELECT /* stagesq.Backlog */
       count(*) AS ready
FROM   stages
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: ((kind = 'last'), id, order_id) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* stagesq.Peek */
       id, order_id, kind
FROM   stages
WHERE  state = 'new'
AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'busy', 0.99))
AND    NOT EXISTS (SELECT 1
               FROM   stages AS other
               WHERE  other.order_id = stages.order_id
               AND    likelihood(other.state = 'new', 0.99)
               AND    likelihood((other.kind = 'last') < (stages.kind = 'last') OR (other.kind = 'last') = (stages.kind = 'last') AND other.id < stages.id, 0.99))
ORDER  BY (kind = 'last'), id
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* stagesq.Verify */
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
WITH /* stagesq.Verify */ want (name, type) AS (
    VALUES ('id', 'INTEGER'),
           ('order_id', 'INTEGER'),
           ('kind', 'TEXT'),
           ('state', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('stages') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* stagesq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('stages_ready', '', '', ''),
           ('stages_group', 'order_id', 'order_id', 'state=''busy'''),
           ('stages_line', 'order_id', 'order_id', 'state=''new''')
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
    FROM   pragma_index_list('stages') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and failed rows cost nothing
CREATE INDEX stages_ready ON stages ((kind = 'last'), id, order_id)
WHERE  state = 'new';
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Claim: the running rows of a group
CREATE INDEX stages_group ON stages (order_id)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX stages_line ON stages (order_id)
WHERE  state = 'new';
