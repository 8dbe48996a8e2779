BEGIN
  IF 1 = 1 THEN
    UPDATE email_outbox SET state = 1;
END;
