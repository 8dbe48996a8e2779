BEGIN
  UPDATE email_outbox SET state = 1 WHERE id = 1
  RETURNING id BULK COLLECT ids;
END;
