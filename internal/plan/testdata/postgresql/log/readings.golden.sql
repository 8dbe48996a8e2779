-- Package readingsq uses the table readings as a queue of jobs on PostgreSQL 18 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: rows are only added, in the order of taken_at: each group of consumers reads them behind its mark, which the table readings_offset keeps.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in readings_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- A row is taken when it was added 1 minute ago, and not before any in front of it. A row whose transaction takes longer may appear behind the mark, and is then never read: no transaction that adds rows may take longer than half of that, from its beginning to its end.
--
-- Before the package is used, schema/offset.sql creates the table readings_offset, which keeps a mark for each group.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates readings_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       rows are only added, in the order of taken_at: each group of consumers reads them behind its mark, which the table readings_offset keeps
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

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* readingsq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= now() THEN 1 ELSE 0 END,
       mark_taken_at
FROM   readings_offset
WHERE  consumer_group = $1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* readingsq.Claim */ INTO readings_offset
       (consumer_group, turn)
VALUES ($1, 0)
ON     CONFLICT DO NOTHING;

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: (taken_at, sensor)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* readingsq.Claim */
       CASE WHEN taken_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, sensor,
       taken_at, value
FROM   readings
ORDER  BY taken_at, sensor
LIMIT  $1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: (taken_at, sensor)
-- isolation: read committed
-- arguments: 1: new TakenAt, 2: limit
SELECT /* readingsq.Claim */
       CASE WHEN taken_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, sensor,
       taken_at, value
FROM   readings
WHERE  taken_at > $1
ORDER  BY taken_at, sensor
LIMIT  $2;

-- sql/claim_alike.sql
-- claim: all rows of one value, where they are more than limit
-- locks: none
-- index: (taken_at, sensor)
-- isolation: read committed
-- arguments: 1: new TakenAt
SELECT /* readingsq.Claim */
       CASE WHEN taken_at <= now() - interval '1 minute' THEN 1 ELSE 0 END, sensor,
       taken_at, value
FROM   readings
WHERE  taken_at = $1
ORDER  BY taken_at, sensor;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* readingsq.Claim */ readings_offset
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
-- arguments: 1: new TakenAt, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* readingsq.Complete */ readings_offset
SET    mark_taken_at = $1,
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
UPDATE /* readingsq.Complete */ readings_offset
SET    turn = turn + 1
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* readingsq.Complete */
       passed, finished
FROM   readings_offset
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new TakenAt, 2: local, 3: local, 4: local, 5: local, 6: local
UPDATE /* readingsq.Complete */ readings_offset
SET    mark_taken_at = $1,
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
UPDATE /* readingsq.Complete */ readings_offset
SET    finished = $1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* readingsq.Requeue */ readings_offset
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
UPDATE /* readingsq.Extend */ readings_offset
SET    lease_till = now() + make_interval(secs => $1),
       turn = turn + 1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* readingsq.Rewind */ readings_offset
SET    mark_taken_at = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $1;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Sensor, 2: new TakenAt, 3: new Value
INSERT /* readingsq.Enqueue */ INTO readings
       (sensor, taken_at, value)
VALUES ($1, coalesce($2::timestamptz, clock_timestamp()), $3)
RETURNING sensor, taken_at;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Sensor, 2: new_batch TakenAt, 3: new_batch Value
INSERT /* readingsq.EnqueueMany */ INTO readings
       (sensor, taken_at, value)
SELECT sensor_new, coalesce(taken_at_new, clock_timestamp()), value_new
FROM   unnest($1::integer[], $2::timestamptz[], $3::double precision[]) WITH ORDINALITY AS job (sensor_new, taken_at_new, value_new, job_order)
ORDER  BY job_order
RETURNING sensor, taken_at;

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* readingsq.Stats */
       consumer_group,
       CASE WHEN readings_offset.mark_taken_at IS NULL THEN (SELECT count(*) FROM readings) ELSE (SELECT count(*) FROM readings WHERE readings.taken_at > readings_offset.mark_taken_at) END,
       CASE WHEN token IS NULL OR lease_till <= now() THEN 0 ELSE 1 END,
       extract(epoch FROM now() - (CASE WHEN readings_offset.mark_taken_at IS NULL THEN (SELECT min(readings.taken_at) FROM readings) ELSE (SELECT min(readings.taken_at) FROM readings WHERE readings.taken_at > readings_offset.mark_taken_at) END))
FROM   readings_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* readingsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 18'
WHERE  current_setting('server_version_num')::int < 180000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* readingsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('sensor', 'integer'),
               ('taken_at', 'timestamptz'),
               ('value', 'double precision')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('readings')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_offset.sql
-- verify: columns of readings_offset
-- locks: none
SELECT /* readingsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('consumer_group', 'text'),
               ('mark_taken_at', 'timestamptz'),
               ('token', 'text'),
               ('worker', 'text'),
               ('lease_till', 'timestamptz'),
               ('passed', 'integer'),
               ('finished', 'text'),
               ('turn', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('readings_offset')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* readingsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* readingsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('readings_ready', 'taken_at, sensor', 'taken_at, sensor', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('readings')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted
CREATE INDEX CONCURRENTLY readings_ready ON readings (taken_at, sensor);
