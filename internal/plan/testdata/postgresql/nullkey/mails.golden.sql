-- Package mailsq uses the tables mails and mails_sending as a queue of jobs on PostgreSQL 15 and later.
--
-- 	         --Enqueue---------> ready
-- 	ready    --Claim-----------> running
-- 	running  --Complete--------> (deleted)
-- 	running  --Fail------------> ready
-- 	running  --Requeue---------> ready
--
-- Jobs are claimed by the strategy move: the state of a job is the table in which its row is; a claim moves it to mails_sending, whose unique key lets one worker have it.
--
-- The fence is at level status: a job can only be settled while its row is in mails_sending and names the worker of its claim. A worker that comes late, after the job was given back and claimed by another, gets ErrLost and changes nothing; two claims of one worker look alike.
--
-- It locks the rows it takes until it commits and passes over rows that others hold. A worker that dies leaves its jobs running for good: nothing in mails_sending tells that it is gone.
--
-- Every statement stands in a file under sql, and what stands there is what is sent, less the comment at its head. Times are those of the database's clock.
--
-- * move         the state of a job is the table in which its row is; a claim moves it to mails_sending, whose unique key lets one worker have it
-- note: the key is mail: unique, and no row with a null there is a job, as qgen:where says; there is no primary key
-- note: nothing marks a failed row, so Fail always puts the job back
-- note: no order is said: rows are taken in the order of the key, mail
-- note: warning: a job that fails is ready at once, and nothing ends that; qgen:due gives it a wait, and qgen:attempts max=5 beside a state for failed rows is an end
-- note: nothing tells that a worker is gone: the rows of a dead worker stay as they are, and there is no Recover
-- note: warning: a row that is made ready again meets one that was added meanwhile and is like it in mail (unique key mails_mail_key): Fail or Requeue fails then, for all rows of the call, until one of the two is gone; Fail or Requeue of one job at a time tells which it is, and Complete ends it; enqueue_if: "not exists (select 1 from mails_sending running where running.mail = {new}.mail)" adds none while one like it runs

-- sql/claim.sql
-- claim: ready to running, from mails to mails_sending
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: mails_mail_key (mail)
-- isolation: read committed
-- arguments: 1: limit, 2: worker Host
WITH /* mailsq.Claim */ gone AS (
    DELETE FROM mails
    WHERE  mail = ANY (ARRAY(
               SELECT mail
               FROM   mails
               WHERE  (mail is not null)
               ORDER  BY mail
               LIMIT  $1
               FOR    UPDATE SKIP LOCKED))
    RETURNING mails.mail
)
INSERT INTO mails_sending
       (mail, host)
SELECT gone.mail, $2::varchar
FROM   gone
RETURNING mail, host;

-- sql/claim_1.sql
-- claim: ready to running, from mails to mails_sending
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: mails_mail_key (mail)
-- isolation: read committed
-- arguments: 1: worker Host
WITH /* mailsq.Claim */ gone AS (
    DELETE FROM mails
    WHERE  mail = ANY (ARRAY(
               SELECT mail
               FROM   mails
               WHERE  (mail is not null)
               ORDER  BY mail
               LIMIT  1
               FOR    UPDATE SKIP LOCKED))
    RETURNING mails.mail
)
INSERT INTO mails_sending
       (mail, host)
SELECT gone.mail, $1::varchar
FROM   gone
RETURNING mail, host;

-- sql/claim_100.sql
-- claim: ready to running, from mails to mails_sending
-- locks: the rows it moves, until commit; passes over rows that are locked
-- index: mails_mail_key (mail)
-- isolation: read committed
-- arguments: 1: worker Host
WITH /* mailsq.Claim */ gone AS (
    DELETE FROM mails
    WHERE  mail = ANY (ARRAY(
               SELECT mail
               FROM   mails
               WHERE  (mail is not null)
               ORDER  BY mail
               LIMIT  100
               FOR    UPDATE SKIP LOCKED))
    RETURNING mails.mail
)
INSERT INTO mails_sending
       (mail, host)
SELECT gone.mail, $1::varchar
FROM   gone
RETURNING mail, host;

-- sql/complete.sql
-- complete: running to done
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Mail, 2: batch Host
DELETE /* mailsq.Complete */ FROM mails_sending
USING  unnest($1::integer[], $2::varchar[]) AS job (mail_held, host_held)
WHERE  mail = mail_held
AND    CASE WHEN host = host_held THEN true END
RETURNING mail;

-- sql/retry.sql
-- retry: running to ready; the rows go to mails
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Mail, 2: batch Host
WITH /* mailsq.Fail */ held AS (
    DELETE FROM mails_sending
    USING  unnest($1::integer[], $2::varchar[]) AS job (mail_held, host_held)
    WHERE  mail = mail_held
    AND    CASE WHEN host = host_held THEN true END
    RETURNING mail
),
added AS (
    INSERT INTO mails
           (mail)
    SELECT held.mail
    FROM   held
)
SELECT mail
FROM   held;

-- sql/requeue.sql
-- requeue: running to ready, no try used; the rows go to mails
-- fence: host as the claim left it
-- locks: the rows it writes, until commit
-- index: the key; CASE hides the rest from the planner, which would trust old statistics of running rows
-- isolation: read committed
-- arguments: 1: batch Mail, 2: batch Host
WITH /* mailsq.Requeue */ held AS (
    DELETE FROM mails_sending
    USING  unnest($1::integer[], $2::varchar[]) AS job (mail_held, host_held)
    WHERE  mail = mail_held
    AND    CASE WHEN host = host_held THEN true END
    RETURNING mail
),
added AS (
    INSERT INTO mails
           (mail)
    SELECT held.mail
    FROM   held
)
SELECT mail
FROM   held;

-- sql/enqueue.sql
-- enqueue: a new ready row
-- locks: nothing that others wait for
-- arguments: 1: new Mail
INSERT /* mailsq.Enqueue */ INTO mails
       (mail)
VALUES ($1)
RETURNING mail;

-- sql/enqueue_many.sql
-- enqueue: new ready rows, in the order given
-- locks: nothing that others wait for
-- arguments: 1: new_batch Mail
INSERT /* mailsq.EnqueueMany */ INTO mails
       (mail)
SELECT mail_new
FROM   unnest($1::integer[]) WITH ORDINALITY AS job (mail_new, job_order)
ORDER  BY job_order
RETURNING mail;

-- sql/stats.sql
-- stats: counts rows by state
-- locks: none
-- index: none; it reads both tables as a whole
SELECT /* mailsq.Stats */
       ready,
       running
FROM   (
           SELECT count(*) AS ready
           FROM   mails
           WHERE  (mail is not null)
       ) ready_figures CROSS JOIN (
           SELECT count(*) AS running
           FROM   mails_sending
           WHERE  (mail is not null)
       ) running_figures;

-- sql/peek.sql
-- peek: ready rows, as a claim would take them
-- locks: none
-- index: mails_mail_key (mail)
-- isolation: read committed
-- arguments: 1: limit
SELECT /* mailsq.Peek */
       mail
FROM   mails
WHERE  (mail is not null)
ORDER  BY mail
LIMIT  $1;

-- sql/verify_version.sql
-- verify: version
-- locks: none
SELECT /* mailsq.Verify */
       'the server is PostgreSQL ' || current_setting('server_version') || ', the package needs 15'
WHERE  current_setting('server_version_num')::int < 150000;

-- sql/verify_columns.sql
-- verify: columns
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('mail', 'integer'),
               ('host', 'varchar')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mails_sending')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_columns_ready.sql
-- verify: columns of mails
-- locks: none
SELECT /* mailsq.Verify */
       'column ' || want.name || CASE
           WHEN have.attname IS NULL THEN ' is missing'
           ELSE ' is ' || format_type(have.atttypid, NULL) || ', not ' || want.type
       END
FROM   (VALUES ('mail', 'integer')) AS want (name, type)
LEFT   JOIN pg_attribute AS have
       ON  have.attrelid = to_regclass('mails')
       AND have.attname = want.name
       AND NOT have.attisdropped
WHERE  have.attname IS NULL
OR     have.atttypid <> want.type::regtype;

-- sql/verify_index_ready.sql
-- verify: index of mails
-- locks: none
SELECT /* mailsq.Verify */
       'index ' || want.name || ' is missing or not valid'
FROM   (VALUES ('mails_mail_key', 'mail', 'mail', '')) AS want (name, columns, least, predicate)
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
           WHERE  i.indrelid = to_regclass('mails')
           AND    i.indisvalid
           AND    (c.relname = want.name
                   OR want.columns <> ''
                   AND m.amname IN ('btree', 'lsm')
                   AND (position(want.columns || ', ' IN have.columns || ', ') = 1 OR have.columns = want.least)
                   AND have.predicate = replace(want.predicate, '''', '')));

-- sql/verify_isolation.sql
-- verify: isolation
-- locks: none
SELECT /* mailsq.Verify */
       'default_transaction_isolation is ' || current_setting('default_transaction_isolation')
WHERE  current_setting('default_transaction_isolation') <> 'read committed';

-- serves Claim: rows in queue order, so that nothing is sorted; rows that are not ready are read and passed over: mails_mail_key serves already
