-- Package eventsq uses the table events as a queue of jobs on PostgreSQL 15 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in events_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- Beside the old program of legacy_claim a job may be done twice. After a claim: a claim moves a mark beside the table and leaves the rows as they are, so what the old program asks for stays true. After it has taken a row: it holds the row's lock, which a claim does not look at. Stop the old program before this one starts.
--
-- A row is taken when every transaction has ended that was writing to the table when the row was first seen, since it may have had a lower id: so none can appear behind the mark. Until then a claim finds no row, and the next one looks again. That asks of producers to leave id to its default, whose sequence must have CACHE 1, as it has unless it was altered.
--
-- Before the package is used, schema/offset.sql creates the table events_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of id: each group of consumers reads them behind its mark, which the table events_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         not needed: offset comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        PostgreSQL has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- old program: exclude each other: no
-- old program: after a claim: no: a claim moves a mark beside the table and leaves the rows as they are, so what the old program asks for stays true
-- old program: after the old one: no: it holds the row's lock, which a claim does not look at
-- old program: rows of the old one: stay ready, and are locked
-- old program: rows of a claim: look free to it: they stay as they were
-- old program: what to do: Stop the old program before this one starts.

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* eventsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= now() THEN 1 ELSE 0 END, mark_id
FROM   events_offset
WHERE  consumer_group = $1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* eventsq.Claim */ INTO events_offset
       (consumer_group, turn)
VALUES ($1, 0)
ON     CONFLICT DO NOTHING;

-- sql/claim_bound.sql
-- claim: how far rows are seen, and the transactions that may still add some below
-- locks: none
SELECT /* eventsq.Claim */
       (SELECT max(id) FROM events),
       coalesce((
           SELECT string_agg(DISTINCT writer.virtualtransaction, ' ')
           FROM   pg_locks AS writer
           WHERE  writer.locktype = 'relation'
           AND    writer.database = (SELECT oid FROM pg_database WHERE datname = current_database())
           AND    writer.relation = to_regclass('events')
           AND    writer.mode = 'RowExclusiveLock'
           AND    writer.granted), '')
WHERE  current_setting('transaction_isolation') IN ('read committed', 'read uncommitted');

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: new Bound, 2: limit
SELECT /* eventsq.Claim */
       id, body
FROM   events
WHERE  id <= $1
ORDER  BY id
LIMIT  $2;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (id)
-- isolation: read committed
-- arguments: 1: new ID, 2: new Bound, 3: limit
SELECT /* eventsq.Claim */
       id, body
FROM   events
WHERE  id > $1
AND    id <= $2
ORDER  BY id
LIMIT  $3;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ events_offset
SET    token = $1,
       worker = $2,
       lease_till = now() + make_interval(secs => $3),
       passed = 0,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $4
AND    turn = $5;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = $1,
       passed = $2,
       token = $3,
       turn = turn + 1
WHERE  consumer_group = $4
AND    token = $5
AND    passed = $6
AND    finished IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Complete */ events_offset
SET    turn = turn + 1
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* eventsq.Complete */
       passed, finished
FROM   events_offset
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new ID, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_id = $1,
       passed = $2,
       finished = $3,
       token = $4
WHERE  consumer_group = $5
AND    token = $6;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local, 3: local
UPDATE /* eventsq.Complete */ events_offset
SET    finished = $1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* eventsq.Requeue */ events_offset
SET    token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $1
AND    token = $2;

-- sql/extend.sql
-- extend: the lease of the claim begins anew
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: lease, 2: local, 3: local
UPDATE /* eventsq.Extend */ events_offset
SET    lease_till = now() + make_interval(secs => $1),
       turn = turn + 1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ events_offset
SET    mark_id = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Body
INSERT /* eventsq.Enqueue */ INTO events
       (body)
VALUES ($1)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Body
INSERT /* eventsq.EnqueueMany */ INTO events
       (body)
SELECT body_new
FROM   unnest($1::text[]) WITH ORDINALITY AS job (body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       consumer_group,
       CASE WHEN events_offset.mark_id IS NULL THEN (SELECT count(*) FROM events) ELSE (SELECT count(*) FROM events WHERE events.id > events_offset.mark_id) END,
       CASE WHEN token IS NULL OR lease_till <= now() THEN 0 ELSE 1 END
FROM   events_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'bigint'),
               ('body', 'text')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('events')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_offset.sql
-- verify: columns of events_offset
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('consumer_group', 'text'),
               ('mark_id', 'bigint'),
               ('token', 'text'),
               ('worker', 'text'),
               ('lease_till', 'timestamptz'),
               ('passed', 'integer'),
               ('finished', 'text'),
               ('turn', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('events_offset')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* eventsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('events_pkey', 'id', 'id', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('events')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: events_pkey serves already
