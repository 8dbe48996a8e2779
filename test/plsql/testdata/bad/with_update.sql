WITH picked AS (SELECT id FROM email_outbox WHERE state = 0)
UPDATE email_outbox SET state = 1 WHERE id IN (SELECT id FROM picked)
