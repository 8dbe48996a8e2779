-- Definitions that blocks run.
begin 
  execute immediate '
  -- qgen:queue guarded
  CREATE TABLE guarded -- qgen:too
   (	id NUMBER(38,0), -- qgen:id
	name VARCHAR2(50), /* qgen:payload */
	flag CHAR(1) DEFAULT ''N'' CHECK (flag IN (''N'',''A''))
   ) TABLESPACE users';
exception when others then
  if sqlcode=-955 then null; else raise; end if;
end;
/
DECLARE
  n NUMBER;
BEGIN
  SELECT COUNT(*) INTO n FROM user_tab_columns WHERE table_name = 'GUARDED' AND column_name = 'NAME';
  IF n = 0 THEN
    EXECUTE IMMEDIATE q'[ALTER TABLE guarded ADD (name VARCHAR2(5))]';
    EXECUTE IMMEDIATE q'[ALTER TABLE guarded ADD (worker VARCHAR2(5) DEFAULT 'it''s' -- qgen:worker
    )]';
  END IF;
  EXECUTE IMMEDIATE 'CREATE TABLE guarded (never NUMBER)';
  EXECUTE IMMEDIATE 'CREATE TABLE ' || 'built' || ' (id NUMBER)';
  EXECUTE IMMEDIATE 'BEGIN EXECUTE IMMEDIATE ''CREATE TABLE inner_one (id NUMBER)''; END;';
  EXECUTE IMMEDIATE 'CREATE TABLE quoted (a VARCHAR2(9) DEFAULT ''it''''s'')'; -- a text within a text is left alone
  EXECUTE IMMEDIATE 'CREATE TABLE loose (id NUMBER); -- qgen:behind';
  EXECUTE IMMEDIATE 'DROP TABLE nothing';
  EXECUTE IMMEDIATE 'COMMENT ON COLUMN guarded.name IS ''qgen:name''';
  EXECUTE IMMEDIATE 'CREATE TABLE "x''y" (id NUMBER)';
  EXECUTE IMMEDIATE 'CREATE TABLE "x''y''z" (id NUMBER)';
  EXECUTE IMMEDIATE 'CREATE TABLE noted (id NUMBER /* it''s */)';
END;
/
