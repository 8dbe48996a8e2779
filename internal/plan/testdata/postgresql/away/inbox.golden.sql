-- Package inboxq uses the tables Inbox and held as a queue of jobs on PostgreSQL 9.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to held, whose unique key lets one worker have it.
--
-- The fence is at level status: a job can only be settled while its row is in held. A worker that comes late, after the job was given back and claimed by another, is not told from that other and can settle its job.
--
-- It reads candidates without locks and locks the rows it takes until it commits; workers that want the same rows wait for each other. A worker that dies leaves its jobs running for good: nothing in held tells that it is gone.
--
-- Besides the queue's own rows it writes taken (Claim), each in the transaction of the operation. A job whose claim was lost writes nothing there.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to held, whose unique key lets one worker have it
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: a row whose column "id" is null is taken only by a claim for every topic; any=null lets it suit everyone
-- note: rows are taken as they came, by column "Gone"; order 1 at column "due" takes them by their time, and reads none that wait for theirs
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover

-- sql/claim_pick.sql
-- claim: keys of ready rows, which claim.sql then moves
-- locks: none
-- index: the primary key ("Gone")
-- isolation: read committed
-- arguments: 1: param id *string, 2: limit
SELECT /* inboxq.Claim */
       "Gone"
FROM   "Inbox"
WHERE  (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)
AND    ($1::text IS NULL OR id = $1)
ORDER  BY "Gone"
LIMIT  $2;

-- sql/claim_lock.sql
-- claim: locks those of the rows that claim_pick.sql named which are still ready
-- locks: the rows it returns, until commit; waits for rows that are locked
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Gone, 2: param id *string
SELECT /* inboxq.Claim */
       "Gone"
FROM   "Inbox"
WHERE  "Gone" = ANY ($1::bigint[])
AND    CASE WHEN (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)
            AND    ($2::text IS NULL OR id = $2) THEN true END
FOR    UPDATE OF "Inbox";

-- sql/claim.sql
-- claim: ready to running, a row of held for each of the rows that claim_lock.sql locked
-- locks: the rows it adds, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: given note *string, 2: batch Gone
INSERT /* inboxq.Claim */ INTO held
       ("Gone", id, due, note)
SELECT held_rows."Gone", held_rows.id, held_rows.due, $1::text
FROM   "Inbox" AS held_rows
WHERE  held_rows."Gone" = ANY ($2::bigint[]);

-- sql/claim_read.sql
-- claim: reads the rows that were added
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone
SELECT /* inboxq.Claim */
       "Gone", id, due
FROM   held
WHERE  "Gone" = ANY ($1::bigint[])
FOR    UPDATE OF held;

-- sql/claim_leave.sql
-- claim: deletes the rows that claim.sql added to held
-- locks: the rows it deletes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone
DELETE /* inboxq.Claim */ FROM "Inbox"
WHERE  "Gone" = ANY ($1::bigint[]);

-- sql/claim_insert_taken.sql
-- claim: inserts rows into taken for the rows that were taken
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone
INSERT /* inboxq.Claim */ INTO taken
       (held, note)
SELECT held_rows."Gone", held_rows.note
FROM   held AS held_rows
WHERE  held_rows."Gone" = ANY ($1::bigint[]);

-- sql/complete.sql
-- complete: running to done
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone
DELETE /* inboxq.Complete */ FROM held
WHERE  "Gone" = ANY ($1::bigint[])
RETURNING "Gone";

-- sql/retry.sql
-- retry: running to ready; the rows go to Inbox
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone, 2: delay
WITH /* inboxq.Fail */ held_rows AS (
    DELETE FROM held
    WHERE  "Gone" = ANY ($1::bigint[])
    RETURNING "Gone", id
),
added AS (
    INSERT INTO "Inbox"
           ("Gone", id, due)
    SELECT held_rows."Gone", held_rows.id, floor(extract(epoch FROM now()) + $2)::bigint
    FROM   held_rows
)
SELECT "Gone"
FROM   held_rows;

-- sql/requeue.sql
-- requeue: running to ready, no try used; the rows go to Inbox
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch Gone, 2: delay
WITH /* inboxq.Requeue */ held_rows AS (
    DELETE FROM held
    WHERE  "Gone" = ANY ($1::bigint[])
    RETURNING "Gone", id, due
),
added AS (
    INSERT INTO "Inbox"
           ("Gone", id, due)
    SELECT held_rows."Gone", held_rows.id,
           CASE WHEN $2 > 0.0 THEN floor(extract(epoch FROM now()) + $2)::bigint ELSE held_rows.due END
    FROM   held_rows
)
SELECT "Gone"
FROM   held_rows;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Due
INSERT /* inboxq.Enqueue */ INTO "Inbox"
       (id, due)
VALUES ($1, $2)
RETURNING "Gone";

-- sql/enqueue_many.sql
-- enqueue: new rows, ready when they are due, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Due
INSERT /* inboxq.EnqueueMany */ INTO "Inbox"
       (id, due)
SELECT id_new, due_new
FROM   unnest($1::text[], $2::integer[]) WITH ORDINALITY AS job (id_new, due_new, job_order)
ORDER  BY job_order
RETURNING "Gone";

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* inboxq.Stats */
       ready,
       delayed,
       oldest_ready,
       running
FROM   (
           SELECT count(*) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)) AS ready,
                  count(*) FILTER (WHERE due > floor(extract(epoch FROM now()))::bigint) AS delayed,
                  (floor(extract(epoch FROM now()))::bigint - min(due) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL))) AS oldest_ready
           FROM   "Inbox"
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   held
       ) running_figures;

-- sql/stats_of.sql
-- stats: counts by state the rows that a claim with the same id is for
-- locks: none
-- index: none; it reads both tables as a whole
-- arguments: 1: param id *string
SELECT /* inboxq.StatsOf */
       ready,
       delayed,
       oldest_ready,
       running
FROM   (
           SELECT count(*) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)) AS ready,
                  count(*) FILTER (WHERE due > floor(extract(epoch FROM now()))::bigint) AS delayed,
                  (floor(extract(epoch FROM now()))::bigint - min(due) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL))) AS oldest_ready
           FROM   "Inbox"
           WHERE  ($1::text IS NULL OR id = $1)
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   held
           WHERE  ($1::text IS NULL OR id = $1)
       ) running_figures;

-- sql/backlog.sql
-- backlog: counts the rows that wait, by id
-- locks: none
-- index: none; it reads the whole table
SELECT /* inboxq.Backlog */
       id,
       count(*) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)) AS ready,
       count(*) FILTER (WHERE due > floor(extract(epoch FROM now()))::bigint) AS delayed,
       (floor(extract(epoch FROM now()))::bigint - min(due) FILTER (WHERE (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL))) AS oldest_ready
FROM   "Inbox"
GROUP  BY id
ORDER  BY id;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key ("Gone")
-- isolation: read committed
-- arguments: 1: param id *string, 2: limit
SELECT /* inboxq.Peek */
       "Gone", id, due
FROM   "Inbox"
WHERE  (due <= floor(extract(epoch FROM now()))::bigint OR due IS NULL)
AND    ($1::text IS NULL OR id = $1)
ORDER  BY "Gone"
LIMIT  $2;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* inboxq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 9.4'
WHERE  current_setting('server_version_num')::int < 90400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* inboxq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('Gone', 'bigint'),
               ('id', 'text'),
               ('due', 'integer'),
               ('note', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('held')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_also.sql
-- verify: columns of taken
-- locks: none
SELECT /* inboxq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('held', 'bigint'),
               ('note', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('taken')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of Inbox
-- locks: none
SELECT /* inboxq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('Gone', 'bigint'),
               ('id', 'text'),
               ('due', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('"Inbox"')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of Inbox
-- locks: none
SELECT /* inboxq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('Inbox_pkey', 'gone', 'gone', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('"Inbox"')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* inboxq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- serves Claim: ready rows in queue order, so that nothing is sorted; rows that wait for their time are read and passed over; rows of another id are read and passed over: Inbox_pkey serves already
