SELECT id FROM email_outbox
WHERE  kind = 'open
