DECLARE /* emailq.Claim */
  CURSOR ready IS
    SELECT ROWID AS rid FROM email_outbox WHERE state = 0 AND run_at <= SYSTIMESTAMP
    ORDER BY priority DESC, id FOR UPDATE SKIP LOCKED;
  TYPE rids IS TABLE OF ROWID INDEX BY PLS_INTEGER;
  picked rids;
  ids    DBMS_SQL.NUMBER_TABLE;
BEGIN
  OPEN ready;
  FETCH ready BULK COLLECT INTO picked LIMIT :limit;
  CLOSE ready;
  FORALL i IN 1 .. picked.COUNT
    UPDATE email_outbox
    SET    state = 1, tries = tries + 1, lease_till = SYSTIMESTAMP + NUMTODSINTERVAL(300, 'SECOND')
    WHERE  ROWID = picked(i)
    RETURNING id BULK COLLECT INTO ids;
  OPEN :jobs FOR
    SELECT id, payload FROM email_outbox WHERE id IN (SELECT column_value FROM TABLE(ids)) ORDER BY priority DESC, id;
END;
