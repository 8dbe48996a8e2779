-- Rows that nobody holds, in queue order.
SELECT /* emailq.Claim */ id, payload
FROM   email_outbox
WHERE  state = 0
AND    run_at <= SYSTIMESTAMP
AND    kind = :kind
ORDER  BY priority DESC, id
FOR    UPDATE OF state SKIP LOCKED
