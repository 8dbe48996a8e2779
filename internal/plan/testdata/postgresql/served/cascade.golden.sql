-- Package cascadeq uses the table steps as a queue of jobs on PostgreSQL 15 and later.
--
-- 	ready    --Claim-----------> done
--
-- Jobs are claimed by the strategy pop: strategy=pop is asked for.
--
-- There is nothing to settle: Claim changes rows, and that is all.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A crash leaves it done as a whole or not at all. Then the rows are changed, and nothing is left to be written.
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
-- note: qgen.yaml says what status of column "state" is; the comment at schema.sql:97:49 is not used
-- note: a row whose claim has run out is claimed again, since nothing but column "since" says which rows run (expired=claim)
-- note: rows are taken as they came, by column "id"
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: there is no Enqueue: the queue "steps" adds the rows that a claim takes here
-- note: a condition on ready rows reads other rows of steps as they were before a claim, so claims at the same moment, and one of several jobs, may go over a limit, if it counts one; qgen:group limit= holds one, at a column for each of its values and above the table for all rows, and a lock that callers take first in their transaction (WithTx) any

-- sql/claim.sql
-- claim: ready to done
-- locks: the rows it takes, until commit; passes over rows that are locked
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: param failed int64, 2: limit
UPDATE /* cascadeq.Claim */ steps
SET    state = 'off'
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   steps
           WHERE  state = 'new'
           AND    (since <= now() - interval '5 minutes' OR since IS NULL)
           AND    (steps.id in (select s.id from steps s where s.parent = $1))
           ORDER  BY id
           LIMIT  $2
           FOR    NO KEY UPDATE SKIP LOCKED))
RETURNING id, parent, since, grade;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* cascadeq.Stats */
       count(*) FILTER (WHERE state = 'new' AND (since <= now() - interval '5 minutes' OR since IS NULL)) AS ready,
       count(*) FILTER (WHERE state = 'new' AND since IS NOT NULL AND since > now() - interval '5 minutes') AS running,
       count(*) FILTER (WHERE state = 'off') AS done,
       count(*) FILTER (WHERE state = 'new' AND since IS NOT NULL AND since <= now() - interval '5 minutes') AS expired,
       extract(epoch FROM now() - min(since) FILTER (WHERE state = 'new' AND since IS NOT NULL AND since > now() - interval '5 minutes')) AS oldest_running
FROM   steps;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: param failed int64, 2: limit
SELECT /* cascadeq.Peek */
       id, parent, since, grade
FROM   steps
WHERE  state = 'new'
AND    (since <= now() - interval '5 minutes' OR since IS NULL)
AND    (steps.id in (select s.id from steps s where s.parent = $1))
ORDER  BY id
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* cascadeq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* cascadeq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('parent', 'bigint'),
               ('state', 'text'),
               ('since', 'timestamptz'),
               ('grade', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('steps')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* cascadeq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* cascadeq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('steps_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('steps')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: the only row of each value that is asked for: steps_pkey serves already
