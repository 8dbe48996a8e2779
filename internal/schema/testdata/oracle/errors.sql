CREATE TABLE skipped (id NUMBER,, name CLOB);
-- qgen:queue bad
CREATE TABLE bad (id NUMBER, name CLOB NOT);
CREATE TABLE good (id NUMBER); -- qgen:queue good
ALTER TABLE good ADD COLUMN;
ALTER TABLE unknown ADD c NUMBER;
ALTER TABLE later ADD x NUMBER;
CREATE TABLE later (id NUMBER);
CREATE TABLE "GOOD" (id NUMBER, x CLOB);
CREATE TABLE two_names (id NUMBER, ID CLOB);
ALTER TABLE good ADD Id NUMBER;
CREATE TABLE no_such (id NUMBER, PRIMARY KEY (other)); -- qgen:queue no_such
CREATE GLOBAL TEMPORARY TABLE brief (id NUMBER); -- qgen:queue brief
CREATE TABLE of_type OF app.person; -- qgen:queue of_type
CREATE TABLE external (id NUMBER) ORGANIZATION EXTERNAL (TYPE ORACLE_LOADER); -- qgen:queue external
CREATE MATERIALIZED VIEW snapshot AS SELECT 1 AS one FROM dual; -- qgen:queue snapshot
CREATE TABLE made AS SELECT 1 + 1 FROM dual; -- qgen:queue made
CREATE VIEW later AS SELECT 1 FROM dual;
CREATE TABLE typo1 (id NUMBER primry KEY); -- qgen:queue typo1
CREATE TABLE typo2 (id PRIMARY KEY); -- qgen:queue typo2
CREATE TABLE typo3 (id NUMBER) TABLESPCE users; -- qgen:queue typo3
CREATE TABLE typo4 (id NUMBER); -- qgen:queue typo4
ALTER TABLE typo4 ADD CONSTRAINT c CHEK (id > 1);
ALTER TABLE typo4 MODIFY nothing NUMBER DROP COLUMN neither RENAME COLUMN no_one TO yes;
ALTER TABLE typo4 MODIFY (id NOT NULL, nothing NUMBER;
ALTER TABLE typo4 MODIFY id NUMBER NONSENSE;
CREATE INDEX i ON typo4;
CREATE TABLE "" (id NUMBER); -- qgen:queue typo20
ALTER TABLE typo4 DROP nonsense;
ALTER TABLE typo4 DROP (id;
ALTER TABLE typo4 NONSENSE;
ALTER TABLE typo4 ENABLE CONSTRAINT;
ALTER TABLE typo4 RENAME CONSTRAINT a b;
ALTER TABLE typo4 ADD FOREIGN KEY (id) REFERENCES good (id) NONSENSE;
CREATE INDEX ON typo4 (id);
CREATE INDEX i ON typo4 (id,);
CREATE INDEX i ON typo4 (nothing);
CREATE INDEX i ON typo4 (id) NONSENSE;
CREATE INDEX i ON nowhere (id) NONSENSE;
CREATE INDEX i ON typo4 (id id);
CREATE INDEX i ON typo4 (CASE WHEN id = 1 THEN 2);
CREATE TABLE typo5 (id NUMBER DEFAULT, n NUMBER); -- qgen:queue typo5
CREATE TABLE typo6 (id INTERVAL DAY TO MONTHS); -- qgen:queue typo6
CREATE TABLE typo7 (id INTERVAL FOO); -- qgen:queue typo7
CREATE TABLE typo8 (id NUMBER GENERATED ALWAYS AS IDENTITY (START FOO)); -- qgen:queue typo8
CREATE TABLE typo9 (id NUMBER CONSTRAINT x FOO); -- qgen:queue typo9
CREATE TABLE typo10 (id NUMBER, FOREIGN KEY (id) nowhere (id)); -- qgen:queue typo10
CREATE TABLE typo11 (id NUMBER) PARTITION BY NONSENSE (id); -- qgen:queue typo11
CREATE TABLE typo12 (id NUMBER)) TABLESPACE users; -- qgen:queue typo12
CREATE TABLE typo13 (id NUMBER 'x'); -- qgen:queue typo13
CREATE TABLE typo14 ('x' NUMBER); -- qgen:queue typo14
CREATE TABLE typo15 (id NUMBER, SUPPLEMENTAL LOG NONSENSE); -- qgen:queue typo15
CREATE TABLE typo16 (id NUMBER DEFAULT 1 +); -- qgen:queue typo16
CREATE TABLE jobs_&suffix (id NUMBER); -- qgen:queue jobs
CREATE TABLE ${table} (id NUMBER); -- qgen:queue jobs
CREATE TABLE typo17 (&col NUMBER); -- qgen:queue typo17
CREATE TABLE typo18 (id DATE DEFAULT SYSTIMESTAMP AT NOON); -- qgen:queue typo18
CREATE TABLE typo19 (id 5); -- qgen:queue typo19
COMMENT ON COLUMN good.id 'qgen:id';
COMMENT ON COLUMN good.id IS qgen;
COMMENT ON TABLE good IS 'qgen:queue good' nonsense;
BEGIN
  EXECUTE IMMEDIATE 'CREATE TABLE typo20 (id NUMBER,, -- qgen:id
  n NUMBER)';
  EXECUTE IMMEDIATE 'CREATE TABLE typo21 (id VARCHAR2(9) DEFAULT ''it''''s'' -- qgen:id
  )';
END;
/
CREATE TABLE open_end (id NUMBER, -- qgen:id
    name VARCHAR2(99) DEFAULT q'[never closed'
