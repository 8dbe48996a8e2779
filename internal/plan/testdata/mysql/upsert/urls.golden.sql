-- Package urlsq uses the table urls as a queue of jobs on MySQL 8.4 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> done
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
-- 	finished --Purge-----------> (deleted)
--
-- Jobs are claimed by the strategy lock_update: ready rows are locked, passing over locked ones, and then written by their keys.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their claim expires; then Recover makes them ready again.
--
-- The table needs an index that it does not have yet: schema/indexes.sql creates urls_ready.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
--   lease_table  the table has a running state, which a claim can write
--   hold         the table has a running state, which outlives a connection
--   partition    no shard column
--   returning    MySQL 8.4 cannot return the rows of an UPDATE
--   block        MySQL has no anonymous blocks that give rows back
--   token        no column can hold the key of a batch
-- * lock_update  ready rows are locked, passing over locked ones, and then written by their keys
--   advisory     MySQL has no locks on numbers
--   guarded      not needed: lock_update comes first
--   pop          a taken row is gone, so it must be asked for
-- note: times of column "seen" are moments, which the session's time zone shows, whatever clock: says of columns without one; clock=utc at the column is for programs that write UTC there in whatever zone
-- note: a claim that has run out is reset by Recover, since the status says which rows run (expired=recover)
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: the database would write column "seen" at every change of a row; a step that does not write it sets it to what it is
-- note: enqueue=update changes the row that is like a new job in url (unique key urls_url): priority = (greatest(priority, {new}.priority)), asked = (asked + 1), run_at = {runAt} unless nil, body = {body} unless nil, note = {note}
-- note: warning: enqueue=update changes the row of a job that runs as well: its worker does not see that, and Complete ends the job
-- note: warning: a job that is done stays so when it is enqueued again, and is not run: qgen:on update set … at column state says what else becomes of it

-- sql/claim_lock.sql
-- claim: locks and reads ready rows, which claim.sql then takes
-- locks: the rows it returns, until commit; passes over rows that are locked
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* urlsq.Claim */
       id, url, priority, CAST(run_at AS CHAR), body, note,
       CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)
FROM   urls
WHERE  state = 'new'
AND    run_at <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, id
LIMIT  ?
FOR    UPDATE SKIP LOCKED;

-- sql/claim.sql
-- claim: ready to running, of the rows that claim_lock.sql locked, with the times that it read
-- locks: the rows it takes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: taken Seen, 2: list ID
UPDATE /* urlsq.Claim */ urls FORCE INDEX (PRIMARY)
SET    state = 'busy',
       seen = FROM_UNIXTIME(? * 0.000001)
WHERE  (id IN (?));

-- sql/complete_lock.sql
-- complete: locks the rows of jobs whose claims are still theirs, which complete.sql then writes
-- fence: seen as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
SELECT /* urlsq.Complete */
       id
FROM   urls FORCE INDEX (PRIMARY)
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy'
FOR    UPDATE;

-- sql/complete.sql
-- complete: running to done
-- fence: seen as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
UPDATE /* urlsq.Complete */ urls FORCE INDEX (PRIMARY)
SET    state = 'done',
       seen = seen
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy';

-- sql/retry_lock.sql
-- retry: locks the rows of jobs whose claims are still theirs, which retry.sql then writes
-- fence: seen as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
SELECT /* urlsq.Fail */
       id
FROM   urls FORCE INDEX (PRIMARY)
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy'
FOR    UPDATE;

-- sql/retry.sql
-- retry: running to ready
-- fence: seen as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: list ID Seen
UPDATE /* urlsq.Fail */ urls FORCE INDEX (PRIMARY)
SET    state = 'new',
       run_at = UTC_TIMESTAMP(6) + INTERVAL ? SECOND,
       seen = seen
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy';

-- sql/requeue_lock.sql
-- requeue: locks the rows of jobs whose claims are still theirs, which requeue.sql then writes
-- fence: seen as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
SELECT /* urlsq.Requeue */
       id
FROM   urls FORCE INDEX (PRIMARY)
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy'
FOR    UPDATE;

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: seen as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: delay, 2: delay, 3: list ID Seen
UPDATE /* urlsq.Requeue */ urls FORCE INDEX (PRIMARY)
SET    state = 'new',
       run_at = CASE WHEN ? > 0.0 THEN UTC_TIMESTAMP(6) + INTERVAL ? SECOND ELSE run_at END,
       seen = seen
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy';

-- sql/extend_lock.sql
-- extend: locks the rows of jobs whose claims are still theirs, which extend.sql then writes
-- fence: seen as the claim left it
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
SELECT /* urlsq.Extend */
       id
FROM   urls FORCE INDEX (PRIMARY)
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy'
FOR    UPDATE;

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: seen as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID Seen
UPDATE /* urlsq.Extend */ urls FORCE INDEX (PRIMARY)
SET    seen = NOW(6)
WHERE  ((id, seen) IN ((?, FROM_UNIXTIME(? * 0.000001))))
AND    state = 'busy';

-- sql/extend_read.sql
-- extend: reads back what it wrote
-- locks: none
-- index: the key
-- isolation: read committed
-- arguments: 1: list ID
SELECT /* urlsq.Extend */
       id, CAST(UNIX_TIMESTAMP(seen) * 1000000 AS SIGNED)
FROM   urls FORCE INDEX (PRIMARY)
WHERE  (id IN (?));

-- sql/recover.sql
-- recover: running with an expired claim to ready
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id), which finds the rows that somebody has by state
-- isolation: read committed
-- arguments: 1: limit
UPDATE /* urlsq.Recover */ (
           SELECT id
           FROM   urls
           WHERE  state = 'busy'
           AND    seen <= LEAST(NOW(6) - INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL 300 SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN urls ON urls.id = picked.id
SET    state = 'new',
       seen = urls.seen;

-- sql/purge_done.sql
-- purge_done: done to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: (state, priority DESC, id); it reads those that are not old enough as well, which one on (state, seen) would not
-- isolation: read committed
-- arguments: 1: older, 2: older, 3: limit
DELETE /* urlsq.Purge */ urls
FROM   (
           SELECT id
           FROM   urls
           WHERE  state = 'done'
           AND    seen <= LEAST(NOW(6) - INTERVAL ? SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL ? SECOND, '+00:00', @@time_zone))
           LIMIT  ?
           FOR    UPDATE SKIP LOCKED
       ) AS picked
       STRAIGHT_JOIN urls ON urls.id = picked.id;

-- sql/enqueue.sql
-- enqueue: a new row, ready when it is due; or what it changes of the row that is like it in url (unique key urls_url)
-- locks: the row, until commit; waits for a transaction that adds, changes or deletes one of the same unique key
-- arguments: 1: new URL, 2: new Priority, 3: new RunAt, 4: new Body, 5: new Note, 6: new RunAt
INSERT /* urlsq.Enqueue */ INTO urls
       (url, priority, run_at, body, note)
VALUES (?, coalesce(?, 0), coalesce(?, UTC_TIMESTAMP(3)), ?, ?) AS new
ON     DUPLICATE KEY UPDATE
       priority = (greatest(urls.priority, new.priority)),
       asked = (urls.asked + 1),
       run_at = coalesce(?, urls.run_at),
       body = coalesce(new.body, urls.body),
       note = new.note,
       seen = urls.seen,
       id = LAST_INSERT_ID(urls.id);

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* urlsq.Stats */
       count(CASE WHEN state = 'new' AND run_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN state = 'busy' THEN 1 END) AS running,
       count(CASE WHEN state = 'done' THEN 1 END) AS done,
       count(CASE WHEN state = 'new' AND run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       count(CASE WHEN state = 'busy' AND seen <= LEAST(NOW(6) - INTERVAL 300 SECOND, CONVERT_TZ(UTC_TIMESTAMP(6) - INTERVAL 300 SECOND, '+00:00', @@time_zone)) THEN 1 END) AS expired,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'new' AND run_at <= UTC_TIMESTAMP(6) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN state = 'busy' THEN seen END), NOW(6)) / 1000000 AS oldest_running
FROM   urls;

-- sql/backlog.sql
-- backlog: counts the rows that wait
-- locks: none
-- index: (state, priority DESC, id)
SELECT /* urlsq.Backlog */
       count(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN 1 END) AS ready,
       count(CASE WHEN run_at > UTC_TIMESTAMP(6) THEN 1 END) AS `delayed`,
       TIMESTAMPDIFF(MICROSECOND, min(CASE WHEN run_at <= UTC_TIMESTAMP(6) THEN run_at END), UTC_TIMESTAMP(6)) / 1000000 AS oldest_ready
FROM   urls
WHERE  state = 'new';

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: (state, priority DESC, id)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* urlsq.Peek */
       id, url, priority, CAST(run_at AS CHAR), body, note,
       CAST(UNIX_TIMESTAMP(seen) * 1000000 AS SIGNED)
FROM   urls
WHERE  state = 'new'
AND    run_at <= UTC_TIMESTAMP(6)
ORDER  BY priority DESC, id
LIMIT  ?;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('the server is ', VERSION(), ', the package needs MySQL 8.4')
FROM   DUAL
WHERE  VERSION() LIKE '%MariaDB%'
OR     VERSION() LIKE '%TiDB%'
OR     SUBSTRING_INDEX(VERSION(), '.', 1) * 10000
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '.', 2), '.', -1) * 100
       + SUBSTRING_INDEX(SUBSTRING_INDEX(VERSION(), '-', 1), '.', -1) < 80400;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('column ', want.name, CASE
           WHEN have.column_name IS NULL THEN ' is missing'
           ELSE CONCAT(' is ', have.column_type, ', not ', want.type)
       END)
FROM   (
           SELECT 'id' AS name, 'bigint' AS type UNION ALL
           SELECT 'url', 'varchar' UNION ALL
           SELECT 'state', 'varchar' UNION ALL
           SELECT 'priority', 'int' UNION ALL
           SELECT 'asked', 'int' UNION ALL
           SELECT 'run_at', 'datetime' UNION ALL
           SELECT 'body', 'json' UNION ALL
           SELECT 'note', 'text' UNION ALL
           SELECT 'seen', 'timestamp'
       ) AS want
LEFT   JOIN information_schema.columns AS have
       ON  have.table_schema = DATABASE()
       AND have.table_name = 'urls'
       AND LOWER(have.column_name) = LOWER(want.name)
WHERE  have.column_name IS NULL
OR     CONCAT(have.data_type, CASE WHEN have.column_type LIKE '%unsigned%' THEN ' unsigned' ELSE '' END) <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('the table is ', have.engine, ', which has no row locks; ALTER TABLE … ENGINE=InnoDB')
FROM   information_schema.tables AS have
WHERE  have.table_schema = DATABASE()
AND    have.table_name = 'urls'
AND    have.engine <> 'InnoDB'
UNION  ALL
SELECT 'binlog_format is STATEMENT, which refuses writes at READ COMMITTED; SET GLOBAL binlog_format = ROW'
FROM   DUAL
WHERE  @@log_bin = 1
AND    @@binlog_format = 'STATEMENT';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* urlsq.Verify */
       CONCAT('index ', want.name, ' is missing')
FROM   (
           SELECT 'urls_ready' AS name, 'state, priority desc, id' AS columns, 'state, priority desc' AS least
       ) AS want
WHERE  NOT EXISTS (
           SELECT 1
           FROM   (
                      SELECT index_name AS name,
                             GROUP_CONCAT(CONCAT(IFNULL(LOWER(column_name), '?'), IF(sub_part IS NULL, '', CONCAT('(', sub_part, ')')), IF(collation = 'D', ' desc', ''))
                                          ORDER BY seq_in_index SEPARATOR ', ') AS columns
                      FROM   information_schema.statistics
                      WHERE  table_schema = DATABASE()
                      AND    table_name = 'urls'
                      AND    index_type = 'BTREE'
                      GROUP  BY index_name
                  ) AS have
           WHERE  LOWER(have.name) = LOWER(want.name)
           OR     LOCATE(CONCAT(want.columns, ', '), CONCAT(have.columns, ', ')) = 1
           OR     have.columns = want.least);

-- serves Claim: ready rows in queue order, so that nothing is sorted and finished rows cost nothing; rows that wait for their time are read and passed over; it also serves Recover: rows that somebody has, which are few
ALTER TABLE urls ADD INDEX urls_ready (state, priority DESC, id), ALGORITHM=INPLACE, LOCK=NONE;
-- Once it stands, add it to the schema that qgen reads and generate again: Claim then names it. Without
-- the name the server may take another index and sort, which locks every ready row.
