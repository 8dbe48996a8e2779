-- Package eventsq uses the table events as a queue of jobs on CockroachDB 25.2 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of created_at: each group of consumers reads them behind its mark, which the table events_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in events_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when it was added 1 minute ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.
--
-- Before the package is used, schema/offset.sql creates the table events_offset, which keeps a mark for each group.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates events_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of created_at: each group of consumers reads them behind its mark, which the table events_offset keeps
--   lease_table  rows are only added, and nothing is claimed but what stands behind a mark
--   hold         not needed: offset comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        CockroachDB has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: an index in queue order is one hot range, and claims that meet there are made again: for many workers add a column for qgen:shard mod and give each worker its share; USING HASH would put the rows out of order

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* eventsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= now() THEN 1 ELSE 0 END,
       mark_created_at
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

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: (created_at, id)
-- arguments: 1: limit
SELECT /* eventsq.Claim */
       CASE WHEN created_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, id, kind,
       created_at, body
FROM   events
ORDER  BY created_at, id
LIMIT  $1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: (created_at, id)
-- arguments: 1: new CreatedAt, 2: limit
SELECT /* eventsq.Claim */
       CASE WHEN created_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, id, kind,
       created_at, body
FROM   events
WHERE  created_at > $1
ORDER  BY created_at, id
LIMIT  $2;

-- sql/claim_alike.sql
-- claim: all rows of one value, where they are more than limit
-- locks: none
-- index: (created_at, id)
-- arguments: 1: new CreatedAt
SELECT /* eventsq.Claim */
       CASE WHEN created_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, id, kind,
       created_at, body
FROM   events
WHERE  created_at = $1
ORDER  BY created_at, id;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* eventsq.Claim */ events_offset
SET    token = $1,
       worker = $2,
       lease_till = now() + $3::float8 * interval '1 second',
       passed = 0,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $4
AND    turn = $5;

-- sql/complete.sql
-- complete: the next rows of the claim, to which the mark moves
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new CreatedAt, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_created_at = $1,
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
-- arguments: 1: new CreatedAt, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* eventsq.Complete */ events_offset
SET    mark_created_at = $1,
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
SET    lease_till = now() + $1::float8 * interval '1 second',
       turn = turn + 1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* eventsq.Rewind */ events_offset
SET    mark_created_at = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $1;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* eventsq.Purge */
       mark_created_at
FROM   events_offset
WHERE  NOT EXISTS (SELECT 1 FROM events_offset WHERE mark_created_at IS NULL)
ORDER  BY mark_created_at
LIMIT  1;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; of two that meet one is undone and made again
-- index: (created_at, id)
-- arguments: 1: new CreatedAt, 2: limit
DELETE /* eventsq.Purge */ FROM events
WHERE  created_at < $1
LIMIT  $2;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new ID, 2: new Kind, 3: new Body
INSERT /* eventsq.Enqueue */ INTO events
       (id, kind, body)
VALUES (coalesce($1::uuid, gen_random_uuid()), $2, $3)
RETURNING id;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch ID, 2: new_batch Kind, 3: new_batch Body
INSERT /* eventsq.EnqueueMany */ INTO events
       (id, kind, body)
SELECT coalesce(id_new, gen_random_uuid()), kind_new, body_new
FROM   unnest($1::uuid[], $2::text[], $3::jsonb[]) WITH ORDINALITY AS job (id_new, kind_new, body_new, job_order)
ORDER  BY job_order
RETURNING id;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* eventsq.Stats */
       consumer_group,
       CASE WHEN events_offset.mark_created_at IS NULL THEN (SELECT count(*) FROM events) ELSE (SELECT count(*) FROM events WHERE events.created_at > events_offset.mark_created_at) END,
       CASE WHEN token IS NULL OR lease_till <= now() THEN 0 ELSE 1 END,
       extract(epoch FROM now() - (CASE WHEN events_offset.mark_created_at IS NULL THEN (SELECT min(events.created_at) FROM events) ELSE (SELECT min(events.created_at) FROM events WHERE events.created_at > events_offset.mark_created_at) END))
FROM   events_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* eventsq.Verify */
       'the server is ' || version() || ', the package needs CockroachDB 25.2'
WHERE  CASE
           WHEN version() NOT LIKE 'CockroachDB %' THEN true
           ELSE split_part(split_part(version(), ' v', 2), '.', 1)::int * 100
                + split_part(split_part(version(), ' v', 2), '.', 2)::int < 2502
       END;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* eventsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('id', 'uuid'),
               ('kind', 'text'),
               ('created_at', 'timestamptz'),
               ('body', 'jsonb')) AS want (name, type)
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
               ('mark_created_at', 'timestamptz'),
               ('token', 'text'),
               ('worker', 'text'),
               ('lease_till', 'timestamptz'),
               ('passed', 'bigint'),
               ('finished', 'text'),
               ('turn', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('events_offset')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* eventsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('events_ready')) AS want (name)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   pg_index AS i
           JOIN   pg_class AS c ON c.oid = i.indexrelid
           WHERE  i.indrelid = to_regclass('events')
           AND    i.indisvalid
           AND    c.relname = want.name);

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX events_ready ON events (created_at, id);
