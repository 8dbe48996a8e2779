-- Package messagesq uses the table messages as a queue of jobs on PostgreSQL 13 and later.
--
-- 	rows   -------------------------|--------------|---------<-- Enqueue
-- 	        passed by the group     mark  claimed    Claim takes the next
--
-- Jobs are claimed by the strategy offset: strategy=offset is asked for.
--
-- The fence is at level token: every claim leaves a random value in the row of its group, and a job can only be settled with the value of its own claim. A consumer that comes late gets ErrLost and moves no mark. A row is read at least once: again when a consumer dies, or when it is finished before one in front of it that is not.
--
-- It locks no row of the table; the row of the group in messages_offset is written in one statement, which waits for others that write it. A consumer that dies leaves its claim until the lease ends; then the rows that the mark has not passed come again.
--
-- Rows come in the order of transaction_id first, the number of the transaction that added them, and only when no transaction of that number or a lower one runs any more: so none can appear behind the mark.
--
-- Before the package is used, schema/offset.sql creates the table messages_offset, which keeps a mark for each group.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * offset       strategy=offset is asked for
--   lease_table  strategy=offset is asked for
--   hold         strategy=offset is asked for
--   partition    strategy=offset is asked for
--   returning    strategy=offset is asked for
--   block        strategy=offset is asked for
--   token        strategy=offset is asked for
--   lock_update  strategy=offset is asked for
--   advisory     strategy=offset is asked for
--   guarded      strategy=offset is asked for
--   pop          strategy=offset is asked for

-- sql/claim_mark.sql
-- claim: how far the group came, and whether a consumer has a claim
-- locks: none
-- arguments: 1: local
SELECT /* messagesq.Claim */
       turn, CASE WHEN token IS NULL OR lease_till <= now() THEN 1 ELSE 0 END,
       mark_transaction_id::text, mark_offset
FROM   messages_offset
WHERE  consumer_group = $1;

-- sql/claim_begin.sql
-- claim: a new group, which has read nothing
-- locks: the row that it adds, until commit
-- arguments: 1: local
INSERT /* messagesq.Claim */ INTO messages_offset
       (consumer_group, turn)
VALUES ($1, 0)
ON     CONFLICT DO NOTHING;

-- sql/claim_first.sql
-- claim: the first rows, for a group that has read nothing
-- locks: none
-- index: the primary key (transaction_id, "offset")
-- isolation: read committed
-- arguments: 1: limit
SELECT /* messagesq.Claim */
       "offset", transaction_id::text, payload
FROM   messages
WHERE  transaction_id < pg_snapshot_xmin(pg_current_snapshot())
ORDER  BY transaction_id, "offset"
LIMIT  $1;

-- sql/claim_next.sql
-- claim: rows behind the mark
-- locks: none
-- index: the primary key (transaction_id, "offset")
-- isolation: read committed
-- arguments: 1: new TransactionID, 2: new Offset, 3: limit
SELECT /* messagesq.Claim */
       "offset", transaction_id::text, payload
FROM   messages
WHERE  (transaction_id, "offset") > ($1::text::xid8, $2)
AND    transaction_id < pg_snapshot_xmin(pg_current_snapshot())
ORDER  BY transaction_id, "offset"
LIMIT  $3;

-- sql/claim.sql
-- claim: the rows that were read, unless anything happened to the group since
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: worker, 3: lease, 4: local, 5: local
UPDATE /* messagesq.Claim */ messages_offset
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
-- arguments: 1: new TransactionID, 2: new Offset, 3: local, 4: local, 5: local, 6: local, 7: local
UPDATE /* messagesq.Complete */ messages_offset
SET    mark_transaction_id = $1::text::xid8,
       mark_offset = $2,
       passed = $3,
       token = $4,
       turn = turn + 1
WHERE  consumer_group = $5
AND    token = $6
AND    passed = $7
AND    finished IS NULL;

-- sql/complete_lock.sql
-- complete: locks the row of the group, where rows are finished out of order
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* messagesq.Complete */ messages_offset
SET    turn = turn + 1
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_read.sql
-- complete: what is finished of the claim
-- fence: token as the claim left it
-- locks: none
-- arguments: 1: local, 2: local
SELECT /* messagesq.Complete */
       passed, finished
FROM   messages_offset
WHERE  consumer_group = $1
AND    token = $2;

-- sql/complete_pass.sql
-- complete: the mark moves to just before the first row that is not finished
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: new TransactionID, 2: new Offset, 3: local, 4: local, 5: local, 6: local, 7: local
UPDATE /* messagesq.Complete */ messages_offset
SET    mark_transaction_id = $1::text::xid8,
       mark_offset = $2,
       passed = $3,
       finished = $4,
       token = $5
WHERE  consumer_group = $6
AND    token = $7;

-- sql/complete_note.sql
-- complete: remembers finished rows behind one that is not
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local, 3: local
UPDATE /* messagesq.Complete */ messages_offset
SET    finished = $1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/requeue.sql
-- requeue: the claim ends, and what the mark has not passed comes again
-- fence: token as the claim left it
-- locks: the row of the group, until commit
-- arguments: 1: local, 2: local
UPDATE /* messagesq.Requeue */ messages_offset
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
UPDATE /* messagesq.Extend */ messages_offset
SET    lease_till = now() + make_interval(secs => $1),
       turn = turn + 1
WHERE  consumer_group = $2
AND    token = $3;

-- sql/rewind.sql
-- rewind: the group has read nothing; a claim that runs is lost
-- locks: the row of the group, until commit
-- arguments: 1: local
UPDATE /* messagesq.Rewind */ messages_offset
SET    mark_transaction_id = NULL,
       mark_offset = NULL,
       token = NULL,
       finished = NULL,
       turn = turn + 1
WHERE  consumer_group = $1;

-- sql/purge_mark.sql
-- purge: the lowest mark, none while a group has read nothing
-- locks: none
SELECT /* messagesq.Purge */
       mark_transaction_id::text, mark_offset
FROM   messages_offset
WHERE  NOT EXISTS (SELECT 1 FROM messages_offset WHERE mark_transaction_id IS NULL)
ORDER  BY mark_transaction_id, mark_offset
LIMIT  1;

-- sql/purge.sql
-- purge: rows that every group has passed
-- locks: the rows it deletes, until commit; passes over rows that are locked
-- index: the primary key (transaction_id, "offset")
-- isolation: read committed
-- arguments: 1: new TransactionID, 2: new Offset, 3: limit
WITH /* messagesq.Purge */ picked AS MATERIALIZED (
    SELECT transaction_id, "offset"
    FROM   messages
    WHERE  (transaction_id, "offset") < ($1::text::xid8, $2)
    LIMIT  $3
    FOR    UPDATE SKIP LOCKED
)
DELETE FROM messages
USING  picked
WHERE  messages.transaction_id = picked.transaction_id
AND    messages."offset" = picked."offset";

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Payload
INSERT /* messagesq.Enqueue */ INTO messages
       (transaction_id, payload)
VALUES ((pg_current_xact_id()), $1)
RETURNING transaction_id::text, "offset";

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Payload
INSERT /* messagesq.EnqueueMany */ INTO messages
       (transaction_id, payload)
SELECT (pg_current_xact_id()), payload_new
FROM   unnest($1::json[]) WITH ORDINALITY AS job (payload_new, job_order)
ORDER  BY job_order
RETURNING transaction_id::text, "offset";

-- sql/stats.sql
-- stats: how far each group came
-- locks: none
SELECT /* messagesq.Stats */
       consumer_group,
       CASE WHEN messages_offset.mark_transaction_id IS NULL THEN (SELECT count(*) FROM messages) ELSE (SELECT count(*) FROM messages WHERE (messages.transaction_id, messages."offset") > (messages_offset.mark_transaction_id, messages_offset.mark_offset)) END,
       CASE WHEN token IS NULL OR lease_till <= now() THEN 0 ELSE 1 END
FROM   messages_offset;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* messagesq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 13'
WHERE  current_setting('server_version_num')::int < 130000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* messagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('offset', 'bigint'),
               ('transaction_id', 'xid8'),
               ('payload', 'json')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('messages')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_offset.sql
-- verify: columns of messages_offset
-- locks: none
SELECT /* messagesq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('consumer_group', 'text'),
               ('mark_transaction_id', 'xid8'),
               ('mark_offset', 'bigint'),
               ('token', 'text'),
               ('worker', 'text'),
               ('lease_till', 'timestamptz'),
               ('passed', 'integer'),
               ('finished', 'text'),
               ('turn', 'bigint')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('messages_offset')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* messagesq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- sql/verify_index.sql
-- verify: index
-- locks: none
SELECT /* messagesq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('messages_pkey', 'transaction_id, offset', 'transaction_id, offset', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('messages')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- serves Claim: ready rows in queue order, so that nothing is sorted: messages_pkey serves already
