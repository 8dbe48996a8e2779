SELECT id
FROM   email_outbox
WHERE  state = 0
LIMIT  1
