-- Complaints count lines from the top of the file, not of the statement.

-- sql/first.sql
SELECT id FROM email_outbox

-- sql/second.sql
SELECT id FROM email_outbox WHERE
