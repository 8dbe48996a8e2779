UPDATE email_outbox SET state = 1
WHERE  state = 0
ORDER  BY id
