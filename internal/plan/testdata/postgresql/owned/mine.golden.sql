-- Package mineq uses the table tasks as a queue of jobs on PostgreSQL 15 and later.
--
-- 	ready    --Claim-----------> ready again
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates tasks_expired.
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
-- note: a row whose column "owner_id" is null is taken by no claim; any=null lets it suit everyone
-- note: rows are taken as they came, by column "id"
-- note: there is no Enqueue: the queue "tasks" adds the rows that a claim takes here

-- sql/claim.sql
-- claim: changes ready rows, which stay ready
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: (owner_id) WHERE owner_id IS NOT NULL; the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int32, 2: param ownerID int32, 3: limit
UPDATE /* mineq.Claim */ tasks
SET    owner_id = NULL
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   tasks
           WHERE  ($1::integer IS NULL OR id = $1)
           AND    owner_id = $2
           ORDER  BY id
           LIMIT  $3
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, owner_id, name, posted;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* mineq.Stats */
       count(*) AS ready
FROM   tasks;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id and owner_id is for
-- locks: none
-- index: (owner_id) WHERE owner_id IS NOT NULL
-- arguments: 1: param id *int32, 2: param ownerID int32
SELECT /* mineq.StatsOf */
       count(*) AS ready
FROM   tasks
WHERE  ($1::integer IS NULL OR id = $1)
AND    owner_id = $2;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by owner_id
-- locks: none
-- index: none; it reads the whole table
SELECT /* mineq.Backlog */
       owner_id,
       count(*) AS ready
FROM   tasks
GROUP  BY owner_id
ORDER  BY owner_id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (owner_id) WHERE owner_id IS NOT NULL; the ready rows are then sorted
-- isolation: read committed
-- arguments: 1: param id *int32, 2: param ownerID int32, 3: limit
SELECT /* mineq.Peek */
       id, owner_id, name, posted
FROM   tasks
WHERE  ($1::integer IS NULL OR id = $1)
AND    owner_id = $2
ORDER  BY id
LIMIT  $3;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mineq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mineq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'integer'),
               ('owner_id', 'integer'),
               ('name', 'text'),
               ('posted', 'timestamptz')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('tasks')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* mineq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* mineq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('tasks_expired', 'owner_id', 'owner_id', 'owner_idisnotnull')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('tasks')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows, which are then sorted; rows of another id are read and passed over
-- tasksq advises the same
CREATE INDEX CONCURRENTLY tasks_expired ON tasks (owner_id)
WHERE  owner_id IS NOT NULL;
