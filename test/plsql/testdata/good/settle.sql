DECLARE /* emailq.Complete */
  ids    DBMS_SQL.NUMBER_TABLE := :ids;
  tokens DBMS_SQL.VARCHAR2_TABLE := :tokens;
  TYPE raws IS TABLE OF RAW(16) INDEX BY PLS_INTEGER;
  marks  raws := :marks;
  done   DBMS_SQL.NUMBER_TABLE;
  none   DBMS_SQL.NUMBER_TABLE;
BEGIN
  FORALL i IN 1 .. ids.COUNT
    UPDATE email_outbox SET state = 2, token = NULL
    WHERE  id = ids(i) AND token = tokens(i) AND mark = marks(i) AND state = 1
    RETURNING id BULK COLLECT INTO done;
  FOR i IN 1 .. done.COUNT LOOP
    IF done.EXISTS(i) THEN none(none.COUNT + 1) := done(i); END IF;
  END LOOP;
  :done := none;
EXCEPTION
  WHEN DUP_VAL_ON_INDEX THEN
    ROLLBACK;
    RAISE;
END;
