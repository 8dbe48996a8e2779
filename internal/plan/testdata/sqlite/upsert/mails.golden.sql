-- Package mailsq uses the table mails as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> failed, when its claim expired and no tries are left
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: one statement writes at a time and returns what it changed.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice within one second.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again, but for those without tries left.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates mails_ready and mails_expired.
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
-- note: a row that waits for its time looks like one that runs: both are hidden by column "due"
-- note: Redrive gives a failed row one more try, since nothing says how many it had
-- note: no order is said: rows are taken in the order of the key, address; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: the fence compares column "due", which counts whole seconds: two claims within one second look alike
-- note: warning: the wait after a failure does not grow: column "tries" counts down, and nothing tells how many tries there were at first; max=<number> does, and backoff: {factor: 1} says that it stays the same
-- note: enqueue=update leaves what a row that is there has in due, tries, for that tells its state or who may take it; qgen:on update set "{new}.due" writes what the job has
-- note: enqueue=update changes the row that is like a new job in lower(address) (unique index mails_address, of rows where state = 'new'): kind = {kind} unless nil, weight = (max(mails.weight, {new}.weight)), data = {data} unless nil, "when" = {when} unless nil
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job; where it has to run again, a unique index of rows that do not run (WHERE …) has Enqueue add another
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in lower(address) (unique index mails_address, of rows where state = 'new'): Redrive fails then, for all rows of the call, until one of the two is gone; a predicate that holds of running rows as well keeps such a row from being added

-- sql/claim.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (address) WHERE state = 'new' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
UPDATE /* mailsq.Claim */ mails
SET    due = unixepoch() + 300,
       tries = tries - 1
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  state = 'new'
           AND    due <= unixepoch()
           AND    tries > 0
           ORDER  BY address
           LIMIT  ?1)
RETURNING address, kind, weight, data, due, tries, "when";

-- sql/claim_1.sql
-- claim: ready to running
-- locks: the database for writing, while the statement runs
-- index: (address) WHERE state = 'new' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
UPDATE /* mailsq.Claim */ mails
SET    due = unixepoch() + 300,
       tries = tries - 1
WHERE  rowid = (
           SELECT rowid
           FROM   mails
           WHERE  state = 'new'
           AND    due <= unixepoch()
           AND    tries > 0
           ORDER  BY address
           LIMIT  1)
RETURNING address, kind, weight, data, due, tries, "when";

-- sql/complete.sql
-- complete: running to done
-- fence: due as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Address Due
UPDATE /* mailsq.Complete */ mails
SET    state = 'sent'
FROM   (
           SELECT json_extract(value, '$[0]') AS address_held,
                  json_extract(value, '$[1]') AS due_held
           FROM   json_each(?1)
       ) AS job
WHERE  address = address_held
AND    +(due = due_held
      AND    state = 'new')
RETURNING address;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: due as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Address Due
UPDATE /* mailsq.Fail */ mails
SET    due = CAST(unixepoch() + ?1 AS INTEGER)
FROM   (
           SELECT json_extract(value, '$[0]') AS address_held,
                  json_extract(value, '$[1]') AS due_held
           FROM   json_each(?2)
       ) AS job
WHERE  address = address_held
AND    +(due = due_held
      AND    state = 'new')
RETURNING address;

-- sql/fail.sql
-- fail: running to failed
-- fence: due as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Address Due
UPDATE /* mailsq.Fail */ mails
SET    state = 'bad',
       tries = 0
FROM   (
           SELECT json_extract(value, '$[0]') AS address_held,
                  json_extract(value, '$[1]') AS due_held
           FROM   json_each(?1)
       ) AS job
WHERE  address = address_held
AND    +(due = due_held
      AND    state = 'new')
RETURNING address;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: due as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: delay, 2: batch_all Address Due
UPDATE /* mailsq.Requeue */ mails
SET    due = CAST(unixepoch() + ?1 AS INTEGER),
       tries = tries + 1
FROM   (
           SELECT json_extract(value, '$[0]') AS address_held,
                  json_extract(value, '$[1]') AS due_held
           FROM   json_each(?2)
       ) AS job
WHERE  address = address_held
AND    +(due = due_held
      AND    state = 'new')
RETURNING address;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: due as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all Address Due
UPDATE /* mailsq.Extend */ mails
SET    due = unixepoch() + 300
FROM   (
           SELECT json_extract(value, '$[0]') AS address_held,
                  json_extract(value, '$[1]') AS due_held
           FROM   json_each(?1)
       ) AS job
WHERE  address = address_held
AND    +(due = due_held
      AND    state = 'new')
RETURNING address, due;

-- sql/recover_failed.sql
-- recover_failed: running with an expired claim and no tries left to failed
-- locks: the database for writing, while the statement runs
-- index: (due) WHERE state = 'new'; until the schema that qgen reads has it, the server may take another
-- arguments: 1: limit
UPDATE /* mailsq.Recover */ mails
SET    state = 'bad',
       tries = 0
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  state = 'new'
           AND    tries <= 0
           AND    due <= unixepoch()
           LIMIT  ?1);

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
UPDATE /* mailsq.Redrive */ mails
SET    due = unixepoch(),
       state = 'new',
       tries = 1
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  state = 'bad'
           LIMIT  ?1);

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (address) WHERE state = 'sent' would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  state = 'sent'
           LIMIT  ?1);

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough; one on (address) WHERE state = 'bad' would find them
-- arguments: 1: limit
DELETE /* mailsq.Purge */ FROM mails
WHERE  rowid IN (
           SELECT rowid
           FROM   mails
           WHERE  state = 'bad'
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due; or what it changes of the row that is like it in lower(address) (unique index mails_address, of rows where state = 'new')
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Address, 2: new Kind, 3: new Weight, 4: new Data, 5: new Due, 6: new Tries, 7: new When
INSERT /* mailsq.Enqueue */ INTO mails
       (address, kind, weight, data, due, tries, "when")
VALUES (?1, ?2, coalesce(?3, 1.5), ?4, coalesce(?5, unixepoch()), ?6,
        coalesce(?7, 'soon'))
ON     CONFLICT ((lower(address)))
       WHERE state = 'new' DO UPDATE
SET    kind = coalesce(excluded.kind, mails.kind),
       weight = (max(mails.weight, excluded.weight)),
       data = coalesce(excluded.data, mails.data),
       "when" = coalesce(?7, mails."when")
RETURNING address;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mailsq.Stats */
       count(*) FILTER (WHERE state = 'new' AND due <= unixepoch() AND tries > 0) AS ready,
       count(*) FILTER (WHERE state = 'new' AND due > unixepoch()) AS running,
       count(*) FILTER (WHERE state = 'sent') AS done,
       count(*) FILTER (WHERE state = 'bad') AS failed,
       count(*) FILTER (WHERE state = 'new' AND tries > 0 AND due > unixepoch()) AS delayed,
       count(*) FILTER (WHERE state = 'new' AND due <= unixepoch()) AS expired,
       (unixepoch() - min(due) FILTER (WHERE state = 'new' AND due <= unixepoch() AND tries > 0)) AS oldest_ready
FROM   mails;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (address) WHERE state = 'new' AND tries > 0
SELECT /* mailsq.Backlog */
       count(*) FILTER (WHERE due <= unixepoch()) AS ready,
       count(*) FILTER (WHERE due > unixepoch()) AS delayed,
       (unixepoch() - min(due) FILTER (WHERE due <= unixepoch())) AS oldest_ready
FROM   mails
WHERE  state = 'new'
AND    tries > 0;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (address) WHERE state = 'new' AND tries > 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       address, kind, weight, data, due, tries, "when"
FROM   mails
WHERE  state = 'new'
AND    due <= unixepoch()
AND    tries > 0
ORDER  BY address
LIMIT  ?1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
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
WITH /* mailsq.Verify */ want (name, type) AS (
    VALUES ('address', 'TEXT'),
           ('kind', 'TEXT'),
           ('weight', 'REAL'),
           ('data', 'BLOB'),
           ('due', 'INT'),
           ('state', 'TEXT'),
           ('tries', 'INT'),
           ('when', 'TEXT')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('mails') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* mailsq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('mails_ready', 'address', 'address', 'state=''new''andtries>0'),
           ('mails_expired', 'due', 'due', 'state=''new''')
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
    FROM   pragma_index_list('mails') AS l
)
SELECT 'index ' || want.name || ' is missing'
FROM   want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   have
           WHERE  have.name = want.name
           OR     have.predicate = want.predicate
           AND    (have.columns = want.least OR instr(have.columns || ', ', want.columns || ', ') = 1));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over
CREATE INDEX mails_ready ON mails (address)
WHERE  state = 'new'
AND    tries > 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.

-- serves Recover: claims that ran out
CREATE INDEX mails_expired ON mails (due)
WHERE  state = 'new';
