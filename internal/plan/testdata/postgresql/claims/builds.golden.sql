-- Package buildsq uses the table buildrequests as a queue of jobs on PostgreSQL 14 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates buildrequests_builds_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for

-- sql/claim.sql
-- claim: ready to running, by a row of buildrequest_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: limit, 3: worker Masterid
WITH /* buildsq.Claim */ picked AS MATERIALIZED (
    SELECT id, builderid, priority, submitted_at
    FROM   buildrequests
    WHERE  complete = 0
    AND    builderid = $1
    AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
    ORDER  BY priority DESC, submitted_at, id
    LIMIT  $2
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO buildrequest_claims
           (brid, masterid, claimed_at)
    SELECT picked.id, $3::integer, floor(extract(epoch FROM now()))::bigint
    FROM   picked
    ON     CONFLICT (brid) DO NOTHING
    RETURNING buildrequest_claims.brid, buildrequest_claims.masterid,
              buildrequest_claims.claimed_at
)
SELECT picked.id, picked.builderid, picked.priority, picked.submitted_at, leased.masterid,
       leased.claimed_at
FROM   leased
       JOIN picked
       ON  leased.brid = picked.id;

-- sql/claim_1.sql
-- claim: ready to running, by a row of buildrequest_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: worker Masterid
WITH /* buildsq.Claim */ picked AS MATERIALIZED (
    SELECT id, builderid, priority, submitted_at
    FROM   buildrequests
    WHERE  complete = 0
    AND    builderid = $1
    AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
    ORDER  BY priority DESC, submitted_at, id
    LIMIT  1
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO buildrequest_claims
           (brid, masterid, claimed_at)
    SELECT picked.id, $2::integer, floor(extract(epoch FROM now()))::bigint
    FROM   picked
    ON     CONFLICT (brid) DO NOTHING
    RETURNING buildrequest_claims.brid, buildrequest_claims.masterid,
              buildrequest_claims.claimed_at
)
SELECT picked.id, picked.builderid, picked.priority, picked.submitted_at, leased.masterid,
       leased.claimed_at
FROM   leased
       JOIN picked
       ON  leased.brid = picked.id;

-- sql/claim_100.sql
-- claim: ready to running, by a row of buildrequest_claims for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: worker Masterid
WITH /* buildsq.Claim */ picked AS MATERIALIZED (
    SELECT id, builderid, priority, submitted_at
    FROM   buildrequests
    WHERE  complete = 0
    AND    builderid = $1
    AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
    ORDER  BY priority DESC, submitted_at, id
    LIMIT  100
    FOR    NO KEY UPDATE SKIP LOCKED
), leased AS (
    INSERT INTO buildrequest_claims
           (brid, masterid, claimed_at)
    SELECT picked.id, $2::integer, floor(extract(epoch FROM now()))::bigint
    FROM   picked
    ON     CONFLICT (brid) DO NOTHING
    RETURNING buildrequest_claims.brid, buildrequest_claims.masterid,
              buildrequest_claims.claimed_at
)
SELECT picked.id, picked.builderid, picked.priority, picked.submitted_at, leased.masterid,
       leased.claimed_at
FROM   leased
       JOIN picked
       ON  leased.brid = picked.id;

-- sql/complete.sql
-- complete: running to done
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes and their claims, until commit
-- index: the key of both tables
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid
WITH /* buildsq.Complete */ picked AS MATERIALIZED (
    SELECT buildrequests.id, brid_held, claimed_at_held, masterid_held
    FROM   unnest($1::integer[], $2::integer[], $3::integer[]) AS job (brid_held, claimed_at_held, masterid_held)
           JOIN buildrequests
           ON  buildrequests.id = brid_held
    WHERE  CASE WHEN buildrequests.complete = 0 THEN true END
    FOR    NO KEY UPDATE OF buildrequests
), leased AS (
    UPDATE buildrequest_claims
    SET    masterid = buildrequest_claims.masterid
    FROM   picked
    WHERE  buildrequest_claims.brid = ANY ($1::integer[])
    AND    buildrequest_claims.brid = picked.id
    AND    CASE WHEN buildrequest_claims.claimed_at = picked.claimed_at_held
                AND    buildrequest_claims.masterid = picked.masterid_held THEN true END
    RETURNING buildrequest_claims.brid
)
UPDATE buildrequests
SET    complete = 1,
       complete_at = floor(extract(epoch FROM now()))::bigint
FROM   leased
WHERE  leased.brid = buildrequests.id
RETURNING buildrequests.id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid
DELETE /* buildsq.Fail */ FROM buildrequest_claims
USING  unnest($1::integer[], $2::integer[], $3::integer[]) AS job (brid_held, claimed_at_held, masterid_held)
WHERE  brid = ANY ($1::integer[])
AND    brid = brid_held
AND    CASE WHEN claimed_at = claimed_at_held
            AND    masterid = masterid_held
            AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0)) THEN true END
RETURNING brid;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: claimed_at, masterid as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch ClaimedAt, 3: batch Masterid
DELETE /* buildsq.Requeue */ FROM buildrequest_claims
USING  unnest($1::integer[], $2::integer[], $3::integer[]) AS job (brid_held, claimed_at_held, masterid_held)
WHERE  brid = ANY ($1::integer[])
AND    brid = brid_held
AND    CASE WHEN claimed_at = claimed_at_held
            AND    masterid = masterid_held
            AND    (EXISTS (SELECT 1 FROM buildrequests WHERE buildrequest_claims.brid = buildrequests.id AND buildrequests.complete = 0)) THEN true END
RETURNING brid;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Builderid, 2: new Priority, 3: new SubmittedAt
INSERT /* buildsq.Enqueue */ INTO buildrequests
       (builderid, priority, submitted_at)
VALUES ($1, coalesce($2::integer, 0), $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Builderid, 2: new_batch Priority, 3: new_batch SubmittedAt
INSERT /* buildsq.EnqueueMany */ INTO buildrequests
       (builderid, priority, submitted_at)
SELECT builderid_new, coalesce(priority_new, 0), submitted_at_new
FROM   unnest($1::integer[], $2::integer[], $3::integer[]) WITH ORDINALITY AS job (builderid_new, priority_new, submitted_at_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* buildsq.Stats */
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL) AS ready,
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL) AS running,
       count(*) FILTER (WHERE buildrequests.complete = 1) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same builderid is for
-- locks: none
-- index: none; it reads the whole table
-- arguments: 1: param builderid int32
SELECT /* buildsq.StatsOf */
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NULL) AS ready,
       count(*) FILTER (WHERE buildrequests.complete = 0 AND buildrequest_claims.brid IS NOT NULL) AS running,
       count(*) FILTER (WHERE buildrequests.complete = 1) AS done
FROM   buildrequests LEFT JOIN buildrequest_claims ON buildrequest_claims.brid = buildrequests.id
WHERE  buildrequests.builderid = $1;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by builderid
-- locks: none
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
SELECT /* buildsq.Backlog */
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
-- index: (builderid, priority DESC, submitted_at, id) WHERE complete = 0
-- isolation: read committed
-- arguments: 1: param builderid int32, 2: limit
SELECT /* buildsq.Peek */
       id, builderid, priority, submitted_at
FROM   buildrequests
WHERE  complete = 0
AND    builderid = $1
AND    NOT EXISTS (SELECT 1 FROM buildrequest_claims WHERE buildrequest_claims.brid = buildrequests.id)
ORDER  BY priority DESC, submitted_at, id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* buildsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 14'
WHERE  current_setting('server_version_num')::int < 140000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('builderid', 'integer'),
               ('priority', 'integer'),
               ('complete', 'integer'),
               ('complete_at', 'integer'),
               ('submitted_at', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('buildrequests')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_lease.sql
-- verify: columns of buildrequest_claims
-- locks: none
SELECT /* buildsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('brid', 'integer'),
               ('masterid', 'integer'),
               ('claimed_at', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('buildrequest_claims')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* buildsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* buildsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('buildrequests_builds_ready', 'builderid, priority desc, submitted_at, id', 'builderid, priority desc, submitted_at, id', 'complete=0')) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           JOIN   pg_am AS m ON m.oid = c.relam
           CROSS  JOIN LATERAL (
                      SELECT lower(string_agg(coalesce(a.attname, '?') || CASE k.option WHEN 1 THEN ' desc nulls last'
                                 WHEN 2 THEN ' nulls first' WHEN 3 THEN ' desc' ELSE '' END, ', ' ORDER BY k.place)) AS columns,
                             coalesce(replace(replace(regexp_replace(regexp_replace(lower(pg_get_expr(i.indpred, i.indrelid)),
                                 '::("[^"]+"|[a-z_.]+( varying| precision)?)([(][0-9, ]+[)])?([[][]])*', '', 'g'),
                                 '[][()`"''[:space:]]', '', 'g'), '=anyarray', 'in'), '<>allarray', 'notin'), '') AS predicate
                      FROM   unnest(i.indkey::smallint[], i.indoption::smallint[]) WITH ORDINALITY AS k (number, option, place)
                      LEFT   JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number
                      WHERE  k.option IS NOT NULL
                  ) AS have
           WHERE  i.indrelid = to_regclass('buildrequests')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing
CREATE INDEX CONCURRENTLY buildrequests_builds_ready ON buildrequests (builderid, priority DESC, submitted_at, id)
WHERE  complete = 0;
