-- Package ordersq uses the table orders as a queue of jobs on SQL Server 2019 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
-- 	running  --Extend----------> running
-- 	running  --Recover---------> ready, when its claim expired
--
-- Jobs are claimed by the strategy lease_table: claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished.
--
-- The fence is at level claimed: a job can only be settled while the row holds the time of its own claim. A worker that comes late gets ErrLost and changes nothing, unless the row was claimed twice at the very same moment.
--
-- It locks the rows it takes and their claims until it commits and passes over rows that others hold. A worker that dies leaves its jobs running until their lease ends; then Claim takes them again.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
--   offset       rows are written when they are taken or finished, not only added
-- * lease_table  claims are rows of a side table, whose unique key decides who has a job; the row itself stays as it is until it is finished
--   hold         not needed: lease_table comes first
--   partition    no shard column
--   returning    the table has no running state that a claim could write
--   block        SQL Server has no anonymous blocks that give rows back
--   token        the table has no running state that a claim could write
--   lock_update  the table has no running state that a claim could write
--   advisory     the table has no running state that a claim could write
--   guarded      the table has no running state that a claim could write
--   pop          a taken row is gone, so it must be asked for
-- note: no order is said: rows are taken in the order of the key, region, seq

-- sql/claim.sql
-- claim: ready to running, by a row of reservations for each of ready rows
-- locks: the rows it takes and their claims, until commit; passes over rows that are locked
-- index: the primary key (region, seq)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Holder
MERGE /* ordersq.Claim */ INTO reservations
USING (
          SELECT TOP (@p1)
                 region, seq, body
          FROM   orders WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
          WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= DATEADD(minute, -30, SYSUTCDATETIME())))
          ORDER  BY region, seq
      ) AS picked
ON    reservations.region = picked.region
      AND reservations.order_no = picked.seq
WHEN  MATCHED AND reservations.since <= DATEADD(minute, -30, SYSUTCDATETIME()) THEN
      UPDATE SET holder = @p2,
                 since = SYSUTCDATETIME(),
                 tries = reservations.tries + 1
WHEN  NOT MATCHED THEN
      INSERT (region, order_no, holder, since, tries)
      VALUES (picked.region, picked.seq, @p2, SYSUTCDATETIME(), 1)
OUTPUT picked.region, picked.seq, picked.body, inserted.holder,
       CONVERT(varchar(27), inserted.since, 126), inserted.tries
OPTION (LOOP JOIN);

-- sql/complete_before.sql
-- complete: locks the rows of the jobs before their claims, as a claim does it, so that the two never wait for each other
-- locks: the rows it returns, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
SELECT /* ordersq.Complete */
       region, seq
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN orders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held;

-- sql/complete.sql
-- complete: running to done
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Complete */ reservations
OUTPUT deleted.region, deleted.order_no
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           order_no_held int '$[1]',
           since_held varchar(27) '$[2]',
           holder_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN reservations WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND order_no = order_no_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    holder = CONVERT(varchar(8000), holder_held)
AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq));

-- sql/complete_rows.sql
-- complete: the rows of the jobs whose claims complete.sql ended
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq
DELETE /* ordersq.Complete */ orders
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           seq_held int '$[1]'
       ) AS job
       INNER LOOP JOIN orders WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND seq = seq_held;

-- sql/retry.sql
-- retry: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Fail */ reservations
OUTPUT deleted.region, deleted.order_no
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           order_no_held int '$[1]',
           since_held varchar(27) '$[2]',
           holder_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN reservations WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND order_no = order_no_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    holder = CONVERT(varchar(8000), holder_held)
AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq));

-- sql/requeue.sql
-- requeue: running to ready, no try used
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Since Holder
DELETE /* ordersq.Requeue */ reservations
OUTPUT deleted.region, deleted.order_no
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           order_no_held int '$[1]',
           since_held varchar(27) '$[2]',
           holder_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN reservations WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND order_no = order_no_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    holder = CONVERT(varchar(8000), holder_held)
AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq));

-- sql/extend.sql
-- extend: running stays running, its lease begins anew
-- fence: since, holder as the claim left it
-- locks: the rows it writes, until commit
-- index: the key
-- isolation: read committed
-- arguments: 1: batch_all Region Seq Since Holder
UPDATE /* ordersq.Extend */ reservations
SET    since = SYSUTCDATETIME()
OUTPUT inserted.region, inserted.order_no, CONVERT(varchar(27), inserted.since, 126)
FROM   OPENJSON(@p1) WITH (
           region_held nvarchar(4000) '$[0]',
           order_no_held int '$[1]',
           since_held varchar(27) '$[2]',
           holder_held nvarchar(4000) '$[3]'
       ) AS job
       INNER LOOP JOIN reservations WITH (UPDLOCK, ROWLOCK, READCOMMITTEDLOCK)
       ON  region = CONVERT(varchar(8000), region_held)
       AND order_no = order_no_held
WHERE  since = CONVERT(datetime2, since_held, 126)
AND    holder = CONVERT(varchar(8000), holder_held)
AND    (EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq));

-- sql/recover_left.sql
-- recover_left: claims that ran out and whose rows are gone or finished, to gone
-- locks: the rows it writes, until commit; passes over rows that are locked
-- index: none; it reads the table until it has found enough; one on (since) would find them
-- isolation: read committed
-- arguments: 1: limit
WITH /* ordersq.Recover */ picked AS (
    SELECT TOP (@p1)
           region, order_no
    FROM   reservations WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK)
    WHERE  (NOT EXISTS (SELECT 1 FROM orders WHERE reservations.region = orders.region AND reservations.order_no = orders.seq))
    AND    since <= DATEADD(minute, -30, SYSUTCDATETIME())
)
DELETE FROM picked
OUTPUT deleted.region, deleted.order_no;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Region, 2: new Seq, 3: new Body
INSERT /* ordersq.Enqueue */ INTO orders
       (region, seq, body)
OUTPUT inserted.region, inserted.seq
VALUES (CONVERT(varchar(8000), @p1), @p2, CONVERT(varchar(8000), @p3));

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads the whole table
SELECT /* ordersq.Stats */
       count(CASE WHEN (reservations.region IS NULL OR reservations.since <= DATEADD(minute, -30, SYSUTCDATETIME())) THEN 1 END) AS ready,
       count(CASE WHEN reservations.since > DATEADD(minute, -30, SYSUTCDATETIME()) THEN 1 END) AS running,
       count(CASE WHEN reservations.since <= DATEADD(minute, -30, SYSUTCDATETIME()) THEN 1 END) AS expired
FROM   orders LEFT JOIN reservations ON reservations.region = orders.region AND reservations.order_no = orders.seq;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: the primary key (region, seq)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* ordersq.Peek */ TOP (@p1)
       region, seq, body
FROM   orders WITH (READPAST, READCOMMITTEDLOCK)
WHERE  NOT EXISTS (SELECT 1 FROM reservations WHERE reservations.region = orders.region AND reservations.order_no = orders.seq AND NOT (reservations.since <= DATEADD(minute, -30, SYSUTCDATETIME())))
ORDER  BY region, seq;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* ordersq.Verify */
       'the server is ' + LEFT(@@VERSION, 25) + ', the package needs SQL Server 2019'
WHERE  @@VERSION LIKE 'Microsoft SQL Server [12]%'
AND    SUBSTRING(@@VERSION, 22, 4) < '2019';

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* ordersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('region', 'varchar'),
                  ('seq', 'int'),
                  ('body', 'varchar')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'orders'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_lease.sql
-- verify: columns of reservations
-- locks: none
SELECT /* ordersq.Verify */
       'column ' + want.name + CASE
           WHEN have.COLUMN_NAME IS NULL THEN ' is missing'
           ELSE ' is ' + have.DATA_TYPE + ', not ' + want.type
       END
FROM   (
           VALUES ('region', 'varchar'),
                  ('order_no', 'int'),
                  ('holder', 'varchar'),
                  ('since', 'datetime2'),
                  ('tries', 'int')
       ) AS want (name, type)
LEFT   JOIN INFORMATION_SCHEMA.COLUMNS AS have
       ON  have.TABLE_SCHEMA = SCHEMA_NAME()
       AND have.TABLE_NAME = 'reservations'
       AND have.COLUMN_NAME = want.name
WHERE  have.COLUMN_NAME IS NULL
OR     have.DATA_TYPE <> want.type;

-- sql/verify_settings.sql
-- verify: settings
-- locks: none
SELECT /* ordersq.Verify */
       'the isolation level of the session is above READ COMMITTED, where claims are refused (error 650); set it back'
FROM   sys.dm_exec_sessions AS have
WHERE  have.session_id = @@SPID
AND    have.transaction_isolation_level NOT IN (1, 2)
UNION  ALL
SELECT 'the compatibility level of the database is ' + CAST(have.compatibility_level AS varchar(3)) + ', OPENJSON needs 130; ALTER DATABASE … SET COMPATIBILITY_LEVEL = 130, or say server: "2014" in qgen.yaml'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.compatibility_level < 130
UNION  ALL
SELECT 'PARAMETERIZATION of the database is FORCED, so that no filtered index is used; ALTER DATABASE … SET PARAMETERIZATION SIMPLE'
FROM   sys.databases AS have
WHERE  have.database_id = DB_ID()
AND    have.is_parameterization_forced = 1
UNION  ALL
SELECT 'the table has a clustered columnstore index, which has no row locks'
FROM   sys.indexes AS have
WHERE  have.object_id = OBJECT_ID('orders')
AND    have.type = 5
UNION  ALL
SELECT 'the trigger ' + have.name + ' is not in the DDL, and rows cannot be returned where one fires; add it to the schema and generate again'
FROM   sys.triggers AS have
WHERE  have.parent_id = OBJECT_ID('orders')
AND    have.is_disabled = 0;

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* ordersq.Verify */
       'index ' + want.name + ' is missing'
FROM   (
           VALUES ('PK__orders', 'region, seq', 'region', '')
       ) AS want (name, columns, least, predicate)
WHERE  NOT EXISTS (
           SELECT 1
           FROM   sys.indexes AS have
           CROSS  APPLY (
                      SELECT (
                                 SELECT LOWER(c.name) + CASE k.is_descending_key WHEN 1 THEN ' desc' ELSE '' END + ', '
                                 FROM   sys.index_columns AS k
                                 INNER  JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
                                 WHERE  k.object_id = have.object_id
                                 AND    k.index_id = have.index_id
                                 AND    k.key_ordinal > 0
                                 ORDER  BY k.key_ordinal
                                 FOR    XML PATH('')) AS columns,
                             REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(LOWER(COALESCE(have.filter_definition, '')),
                                 '(', ''), ')', ''), '[', ''), ']', ''), '"', ''), ' ', '') AS predicate
                  ) AS made
           WHERE  have.object_id = OBJECT_ID('orders')
           AND    (have.name = want.name
                   OR want.name LIKE 'PK[_][_]%' AND have.is_primary_key = 1
                   OR want.name LIKE 'UQ[_][_]%' AND have.is_unique_constraint = 1
                   OR want.columns <> ''
                   AND have.type IN (1, 2)
                   AND (CHARINDEX(want.columns + ', ', made.columns) = 1 OR made.columns = want.least + ', ')
                   AND made.predicate = want.predicate)
           AND    have.is_disabled = 0);

-- serves Claim: ready rows in queue order, so that nothing is sorted: PK__orders serves already
