-- Many files in one, as the goldens are; none of them ends with a delimiter.

-- sql/extend.sql
-- extend: running to running; a head may hold quotes: it's "one" ; and a slash /
UPDATE /* emailq.Extend */ email_outbox
SET    lease_till = SYSTIMESTAMP + INTERVAL '300' SECOND
WHERE  id = :id
AND    token = :token
RETURNING id INTO :seen

-- sql/enqueue.sql
MERGE /* emailq.Enqueue */ INTO email_outbox t
USING (SELECT :id AS id, :payload AS payload FROM dual) s
ON    (t.id = s.id)
WHEN  MATCHED THEN UPDATE SET t.payload = s.payload
WHEN  NOT MATCHED THEN INSERT (id, payload) VALUES (s.id, s.payload)

-- sql/depth.sql
SELECT /* emailq.Depth */ state, COUNT(*), MIN(run_at)
FROM   email_outbox
GROUP  BY state
FETCH  FIRST 10 ROWS ONLY

-- schema/indexes.sql
CREATE INDEX email_outbox_ready ON email_outbox (
  CASE WHEN state = 0 THEN priority END DESC,
  CASE WHEN state = 0 THEN id END
) ONLINE;
