-- Package pagesq uses the table pages as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready, while tries are left
-- 	running  --Fail------------> failed
-- 	running  --Requeue---------> ready
-- 	failed   --Redrive---------> ready
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy returning: the server passes over locked rows and UPDATE returns what it changed.
--
-- The fence is at level attempt: every claim increments a counter in the row, and a job can only be settled with the count of its own claim. A worker that comes late gets ErrLost and changes nothing. Requeue takes the count back, and Redrive sets it anew: whoever keeps a job after it was given back, by then claimed again with the same count, is not told from its new holder. A token column would tell them apart.
--
-- Of the jobs that are alike in host, at most 2 run at once; a claim locks a number made of each group, then counts what is running. In a transaction of the caller's own that must be READ COMMITTED; at any other level Claim returns an error. A claim can come back with fewer jobs than are ready: it passes over groups that another claims from at that moment. It comes back with none for that only after it has tried, for 0.2 seconds or so, to get the group of the first.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in the table tells that it is gone.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates pages_ready and pages_group and pages_line.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
-- * returning    the server passes over locked rows and UPDATE returns what it changed
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
--   lock_update  the running rows of a group are counted behind locks, in a statement of their own
--   advisory     the running rows of a group are counted behind locks, in a statement of their own
--   guarded      the running rows of a group are counted behind locks, in a statement of their own
--   pop          it writes no running state, so the running rows of a group cannot be counted
-- note: rows of one priority are taken as they came, by column "since"
-- note: the fence is the count in column "tries" alone, which repeats after Requeue and Redrive: a Requeue that is sent twice can give back the claim of another; qgen:worker or qgen:token closes that
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: a claim reads the ready rows of groups that are full, and passes over them: where many stand before the others, a topic for host has it read rows of one group alone
-- note: enqueue=update leaves what a row that is there has in host, for that tells its state or who may take it; qgen:on update set "{new}.host" writes what the job has
-- note: enqueue=update changes the row that is like a new job in lower(url), (note ->> 'lang') (unique index pages_waiting, of rows where state IN ('new', 'again')): url = {url}, run_at = {runAt} unless nil, priority = (greatest(priority, {new}.priority)), asked = asked + 1, note = {note} unless nil, body = {body}
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in lower(url), (note ->> 'lang') (unique index pages_waiting, of rows where state IN ('new', 'again')): Fail, Requeue or Redrive fails then, for all rows of the call, until one of the two is gone; a predicate that holds of running rows as well keeps such a row from being added

-- sql/claim_lock.sql
-- claim: locks ready rows and their groups, which claim.sql then takes
-- locks: the rows it finds, and a number for each group that they are of, until commit; passes over rows and groups that are locked; where all of these groups are, tries the first again, for 0.2 s or so
-- index: (priority DESC, since, id, run_at) WHERE state IN ('new', 'again')
-- isolation: read committed
-- arguments: 1: limit
WITH /* pagesq.Claim */ RECURSIVE candidate AS MATERIALIZED (
    SELECT *
    FROM   pages
    WHERE  state IN ('new', 'again')
    AND    run_at <= now()
    AND    CASE WHEN pages.host IN (SELECT other.host
               FROM   (SELECT other.host FROM pages AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.host LIMIT 1000) AS other
               GROUP  BY other.host
               HAVING count(*) >= 2) THEN false ELSE true END
    AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   pages AS other
               WHERE  other.host = pages.host
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM pages AS other
                       WHERE  other.host = pages.host
                       AND    other.state IN ('new', 'again')
                       AND    other.run_at <= now()
                       ORDER  BY other.priority DESC, other.since, other.id LIMIT room.n) AS other
               WHERE  other.id = pages.id) THEN true END
    ORDER  BY priority DESC, since, id
    LIMIT  $1
    FOR    NO KEY UPDATE SKIP LOCKED
), look AS (
    SELECT 1 AS nth, bool_or(pg_try_advisory_xact_lock('pages'::regclass::oid::int, hashtext(candidate.host::text))) AS free
    FROM   candidate
    UNION  ALL
    SELECT look.nth + 1, CASE WHEN pg_sleep(0.002) IS NOT NULL THEN pg_try_advisory_xact_lock('pages'::regclass::oid::int, hashtext(candidate.host::text)) END
    FROM   look
    CROSS  JOIN (SELECT * FROM candidate LIMIT 1) AS candidate
    WHERE  look.free IS NOT TRUE
    AND    look.nth < 100
)
SELECT candidate.id
FROM   candidate
WHERE  CASE WHEN (SELECT bool_or(look.free) FROM look) THEN pg_try_advisory_xact_lock('pages'::regclass::oid::int, hashtext(candidate.host::text)) END;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, as far as their groups still have room
-- locks: the rows it takes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID
UPDATE /* pagesq.Claim */ pages
SET    state = 'busy',
       tries = tries + 1
WHERE  id = ANY ($1::uuid[])
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   pages AS other
               WHERE  other.host = pages.host
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM pages AS other
                       WHERE  other.host = pages.host
                       AND    other.state IN ('new', 'again')
                       AND    other.run_at <= now()
                       ORDER  BY other.priority DESC, other.since, other.id LIMIT room.n) AS other
               WHERE  other.id = pages.id)
            AND    CASE current_setting('transaction_isolation') WHEN 'read committed' THEN true ELSE ('groups are counted in READ COMMITTED, not in ' || current_setting('transaction_isolation'))::boolean END THEN true END
RETURNING id, url, run_at, priority, tries, since, host, origin, note, body;

-- sql/complete.sql
-- complete: running to done
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* pagesq.Complete */ pages
SET    state = 'read'
FROM   unnest($1::uuid[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/retry.sql
-- retry: running to ready, one try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* pagesq.Fail */ pages
SET    state = 'new',
       run_at = now() + make_interval(secs => $1)
FROM   unnest($2::uuid[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/fail.sql
-- fail: running to failed
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch ID, 2: batch Tries
UPDATE /* pagesq.Fail */ pages
SET    state = 'bad'
FROM   unnest($1::uuid[], $2::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: tries as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: delay, 2: batch ID, 3: batch Tries
UPDATE /* pagesq.Requeue */ pages
SET    state = 'new',
       run_at = CASE WHEN $1 > 0.0 THEN now() + make_interval(secs => $1) ELSE run_at END,
       tries = tries - 1
FROM   unnest($2::uuid[], $3::integer[]) AS job (id_held, tries_held)
WHERE  id = id_held
AND    CASE WHEN tries = tries_held
            AND    state = 'busy' THEN true END
RETURNING id;

-- sql/redrive.sql
-- redrive: failed to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* pagesq.Redrive */ pages
SET    state = 'new',
       tries = 0
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   pages
           WHERE  state = 'bad'
           LIMIT  $1
           FOR    NO KEY UPDATE SKIP LOCKED));

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 'read' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* pagesq.Purge */ FROM pages
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   pages
           WHERE  state = 'read'
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/purge_failed.sql
-- purge_failed: failed to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) WHERE state = 'bad' would find them
-- isolation: read committed
-- arguments: 1: older, 2: limit
DELETE /* pagesq.Purge */ FROM pages
WHERE  id = ANY (ARRAY(
           SELECT id
           FROM   pages
           WHERE  state = 'bad'
           AND    since <= now() - make_interval(secs => $1)
           LIMIT  $2
           FOR    UPDATE SKIP LOCKED));

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due; or what it changes of the row that is like it in lower(url), (note ->> 'lang') (unique index pages_waiting, of rows where state IN ('new', 'again'))
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new ID, 2: new URL, 3: new RunAt, 4: new Priority, 5: new Host, 6: new Origin, 7: new Note, 8: new Body
INSERT /* pagesq.Enqueue */ INTO pages
       (id, url, run_at, priority, since, host, origin, note, body)
VALUES ($1, $2, coalesce($3::timestamptz, now()), coalesce($4::integer, 0), now(), $5,
        $6, $7, $8)
ON     CONFLICT ((lower(url)), ((note ->> 'lang')))
       WHERE state IN ('new', 'again') DO UPDATE
SET    url = excluded.url,
       run_at = coalesce($3::timestamptz, pages.run_at),
       priority = (greatest(pages.priority, excluded.priority)),
       asked = pages.asked + 1,
       note = coalesce(excluded.note, pages.note),
       body = excluded.body
RETURNING id;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* pagesq.Stats */
       count(*) FILTER (WHERE state IN ('new', 'again') AND run_at <= now()) AS ready,
       count(*) FILTER (WHERE state = 'busy') AS running,
       count(*) FILTER (WHERE state = 'read') AS done,
       count(*) FILTER (WHERE state = 'bad') AS failed,
       count(*) FILTER (WHERE state IN ('new', 'again') AND run_at > now()) AS delayed,
       extract(epoch FROM now() - min(since) FILTER (WHERE state IN ('new', 'again') AND run_at <= now())) AS oldest_ready
FROM   pages;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: pages_waiting ((lower(url)), (note ->> 'lang')) WHERE state IN ('new', 'again')
SELECT /* pagesq.Backlog */
       count(*) FILTER (WHERE run_at <= now()) AS ready,
       count(*) FILTER (WHERE run_at > now()) AS delayed,
       extract(epoch FROM now() - min(since) FILTER (WHERE run_at <= now())) AS oldest_ready
FROM   pages
WHERE  state IN ('new', 'again');

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (priority DESC, since, id, run_at) WHERE state IN ('new', 'again')
-- isolation: read committed
-- arguments: 1: limit
SELECT /* pagesq.Peek */
       id, url, run_at, priority, tries, since, host, origin, note, body
FROM   pages
WHERE  state IN ('new', 'again')
AND    run_at <= now()
AND    CASE WHEN pages.host IN (SELECT other.host
               FROM   (SELECT other.host FROM pages AS other
                       WHERE  other.state = 'busy'
                       ORDER  BY other.host LIMIT 1000) AS other
               GROUP  BY other.host
               HAVING count(*) >= 2) THEN false ELSE true END
AND    CASE WHEN EXISTS (SELECT 1
               FROM   (SELECT greatest(2 - (SELECT count(*)
               FROM   pages AS other
               WHERE  other.host = pages.host
               AND    other.state = 'busy'), 0) AS n) AS room
               CROSS  JOIN LATERAL (SELECT other.id FROM pages AS other
                       WHERE  other.host = pages.host
                       AND    other.state IN ('new', 'again')
                       AND    other.run_at <= now()
                       ORDER  BY other.priority DESC, other.since, other.id LIMIT room.n) AS other
               WHERE  other.id = pages.id) THEN true END
ORDER  BY priority DESC, since, id
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* pagesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* pagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'uuid'),
               ('url', 'text'),
               ('state', 'text'),
               ('run_at', 'timestamptz'),
               ('priority', 'integer'),
               ('tries', 'integer'),
               ('asked', 'integer'),
               ('since', 'timestamptz'),
               ('host', 'text'),
               ('origin', 'text'),
               ('note', 'jsonb'),
               ('body', 'json')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('pages')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* pagesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* pagesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('pages_ready', 'priority desc, since, id', 'priority desc, since, id', 'statein''new'',''again'''),
               ('pages_group', 'host', 'host', 'state=''busy'''),
               ('pages_line', 'host, priority desc, since, id', 'host, priority desc, since, id', 'statein''new'',''again''')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('pages')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are passed over in it
CREATE INDEX CONCURRENTLY pages_ready ON pages (priority DESC, since, id, run_at)
WHERE  state IN ('new', 'again');

-- serves Claim: the running rows of a group
CREATE INDEX CONCURRENTLY pages_group ON pages (host)
WHERE  state = 'busy';

-- serves Claim: who is before a row in its group
CREATE INDEX CONCURRENTLY pages_line ON pages (host, priority DESC, since, id)
WHERE  state IN ('new', 'again');
