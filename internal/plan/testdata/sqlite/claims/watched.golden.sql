-- Package watchedq uses the table buildrequests as a queue of jobs on SQLite 3.38 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Recover---------> ready, when its worker is gone
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the database for writing while the statement runs. Whoever writes meanwhile waits as long as busy_timeout says, and without one fails at once with SQLITE_BUSY. A worker that dies leaves its jobs running until Recover, which goes by the workers that are alive, makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates buildrequests_builds_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         SQLite locks the whole database, not rows
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQLite has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim.sql
-- claim: ready to running, by a row of buildrequest_claims for each of ready rows
-- locks: the database for writing, while the statement runs
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: worker Masterid, 2: param builderid int64, 3: limit
INSERT /* watchedq.Claim */ INTO buildrequest_claims
       (brid, masterid, claimed_at)
SELECT buildrequests.id, ?1, unixepoch()
FROM   buildrequests
WHERE  complete = 0
AND    builderid = ?2
AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
ORDER  BY priority DESC, submitted_at, id
LIMIT  ?3
ON     CONFLICT (brid) DO NOTHING
RETURNING brid;

-- sql/claim_read.sql
-- claim: reads the jobs that were taken, with their claims
-- locks: none
-- index: the key of both tables
-- arguments: 1: batch_all ID
SELECT /* watchedq.Claim */
       buildrequests.id, buildrequests.builderid, buildrequests.priority,
       buildrequests.complete_at, buildrequests.submitted_at, buildrequest_claims.masterid,
       buildrequest_claims.claimed_at
FROM   buildrequest_claims, buildrequests
WHERE  buildrequests.id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(buildrequest_claims.brid = buildrequests.id
      AND    buildrequests.complete = 0);

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_at, masterid as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt Masterid
UPDATE /* watchedq.Complete */ buildrequest_claims
SET    masterid = masterid
FROM   (
           SELECT json_extract(value, '$[0]') AS brid_held,
                  json_extract(value, '$[1]') AS claimed_at_held,
                  json_extract(value, '$[2]') AS masterid_held
           FROM   json_each(?1)
       ) AS job
WHERE  brid = brid_held
AND    +(claimed_at = claimed_at_held
      AND    masterid = masterid_held
      AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0)))
RETURNING brid;

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID
UPDATE /* watchedq.Complete */ buildrequests
SET    complete = 1
WHERE  id IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
AND    +(complete = 0);

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt Masterid
DELETE /* watchedq.Fail */ FROM buildrequest_claims
WHERE  (brid, claimed_at, masterid) IN (
           SELECT json_extract(value, '$[0]') AS brid_held,
                  json_extract(value, '$[1]') AS claimed_at_held,
                  json_extract(value, '$[2]') AS masterid_held
           FROM   json_each(?1))
AND    +((EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0)))
RETURNING brid;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the database for writing, while the statement runs
-- index: the key; the plus hides the rest from the planner, which would trust old statistics of running rows
-- arguments: 1: batch_all ID ClaimedAt Masterid
DELETE /* watchedq.Requeue */ FROM buildrequest_claims
WHERE  (brid, claimed_at, masterid) IN (
           SELECT json_extract(value, '$[0]') AS brid_held,
                  json_extract(value, '$[1]') AS claimed_at_held,
                  json_extract(value, '$[2]') AS masterid_held
           FROM   json_each(?1))
AND    +((EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0)))
RETURNING brid;

-- sql/recover.sql
-- recover: running of workers that are gone to ready
-- locks: the database for writing, while the statement runs
-- index: none; it reads the table until it has found enough
-- arguments: 1: limit
DELETE /* watchedq.Recover */ FROM buildrequest_claims
WHERE  rowid IN (
           SELECT rowid
           FROM   buildrequest_claims
           WHERE  (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0))
           AND    (masterid IS NOT NULL AND NOT EXISTS (SELECT 1 FROM masters worker_row WHERE worker_row.id = buildrequest_claims.masterid AND worker_row.last_active > unixepoch() - 600 AND (active = 1)))
           LIMIT  ?1);

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: the database for writing, while the statement runs
-- arguments: 1: new Builderid, 2: new Priority, 3: new CompleteAt, 4: new SubmittedAt
INSERT /* watchedq.Enqueue */ INTO buildrequests
       (builderid, priority, complete_at, submitted_at)
VALUES (?1, coalesce(?2, 0), ?3, ?4)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: the database for writing, while the statement runs
-- arguments: 1: new_all Builderid Priority CompleteAt SubmittedAt
INSERT /* watchedq.EnqueueMany */ INTO buildrequests
       (builderid, priority, complete_at, submitted_at)
SELECT builderid_new, coalesce(priority_new, 0), complete_at_new, submitted_at_new
FROM   (
           SELECT key AS job_order,
                  json_extract(value, '$[0]') AS builderid_new,
                  json_extract(value, '$[1]') AS priority_new,
                  json_extract(value, '$[2]') AS complete_at_new,
                  json_extract(value, '$[3]') AS submitted_at_new
           FROM   json_each(?1)
       ) AS job
WHERE  true
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* watchedq.Stats */
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL) AS ready,
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL) AS running,
       count(*) FILTER (WHERE buildrequests.complete = 1) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same builderid is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param builderid int64
SELECT /* watchedq.StatsOf */
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL) AS ready,
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL) AS running,
       count(*) FILTER (WHERE buildrequests.complete = 1) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.builderid = ?1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by builderid
-- locks: none
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
SELECT /* watchedq.Backlog */
       buildrequests.builderid,
       count(*) AS ready
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.complete = 0
AND    buildrequest_claims.brid IS NULL
GROUP  BY buildrequests.builderid
ORDER  BY buildrequests.builderid;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0; until the schema that qgen reads has it, the server may take another and sort
-- arguments: 1: param builderid int64, 2: limit
SELECT /* watchedq.Peek */
       id, builderid, priority, complete_at, submitted_at
FROM   buildrequests
WHERE  complete = 0
AND    builderid = ?1
AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
ORDER  BY priority DESC, submitted_at, id
LIMIT  ?2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* watchedq.Verify */
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
WITH /* watchedq.Verify */ want (name, type) AS (
    VALUES ('id', 'integer'),
           ('builderid', 'integer'),
           ('priority', 'integer'),
           ('complete', 'integer'),
           ('complete_at', 'integer'),
           ('submitted_at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('buildrequests') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_lease.sql
-- verify: columns of buildrequest_claims
-- locks: none
WITH /* watchedq.Verify */ want (name, type) AS (
    VALUES ('brid', 'integer'),
           ('masterid', 'integer'),
           ('claimed_at', 'integer')
)
SELECT 'column ' || want.name || CASE
           WHEN have.name IS NULL THEN ' is missing'
           ELSE ' is ' || have.type || ', not ' || want.type
       END
FROM   want
LEFT   JOIN pragma_table_xinfo('buildrequest_claims') AS have
       ON have.name = want.name COLLATE NOCASE
WHERE  have.name IS NULL
OR     upper(have.type) <> upper(want.type);

-- sql/verify_index.sql
-- verify: index
-- locks: none
WITH /* watchedq.Verify */ want (name, columns, least, predicate) AS (
    VALUES ('buildrequests_builds_ready', 'builderid, priority desc, submitted_at, id', 'builderid, priority desc, submitted_at', 'complete=0')
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
    FROM   pragma_index_list('buildrequests') AS l
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
-- buildsq advises the same
CREATE INDEX buildrequests_builds_ready ON buildrequests (builderid, priority DESC, submitted_at, id)
WHERE  complete = 0;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort every ready row.
