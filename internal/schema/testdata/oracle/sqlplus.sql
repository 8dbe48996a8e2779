REM  A script for SQL*Plus.
SET ECHO ON SERVEROUTPUT ON
set define '^' verify off;
WHENEVER SQLERROR EXIT SQL.SQLCODE ROLLBACK
SPOOL install.log append
PROMPT It's "installing"; CREATE TABLE nothing (
@@tables/other.sql arg1 'arg 2'
@other
DEFINE tbs = USERS
ACCEPT pw CHAR PROMPT 'Password for CREATE TABLE: ' HIDE
COLUMN name FORMAT A30 HEADING 'a -
long' -
  WRAPPED
CONNECT scott/tiger
VARIABLE n NUMBER
EXEC :n := 1; dbms_output.put_line('CREATE TABLE none (id NUMBER);');
SET TRANSACTION
  READ ONLY;
SET ROLE app_role;
SET CONSTRAINTS ALL DEFERRED;
!ls
host rm -f x

CREATE TABLE a (
  id NUMBER, -- qgen:id
  text VARCHAR2(100) DEFAULT q'!it's; a "text" /* no comment */!',
  n VARCHAR2(9) DEFAULT nq'<a>', q VARCHAR2(9) DEFAULT q'xax', v# NUMBER, v$ NUMBER,
  s VARCHAR2(9) DEFAULT 'a
/
; b'
) TABLESPACE &tbs STORAGE (INITIAL &&1.M)
/
CREATE TABLE &owner..b (id NUMBER) TABLESPACE &&tbs
.
/
CREATE TABLE ${schema}.c (id NUMBER) TABLESPACE ${tbs};
/
CREATE OR REPLACE PACKAGE api AS
  PROCEDURE claim (n IN NUMBER);
  FUNCTION size_of RETURN NUMBER; -- qgen:loose
END api;
/
SHOW ERRORS
CREATE OR REPLACE PACKAGE BODY api AS
  PROCEDURE claim (n IN NUMBER) IS
  BEGIN
    FOR r IN (SELECT id FROM a) LOOP
      IF r.id > 1 THEN NULL; END IF;
    END LOOP;
    EXECUTE IMMEDIATE 'CREATE TABLE never (id NUMBER)';
  END claim;
  FUNCTION size_of RETURN NUMBER IS BEGIN RETURN CASE WHEN 1 = 1 THEN 2 ELSE 3 END; END;
BEGIN
  NULL;
END api;
/
create or replace and compile java source named "Hello" as
public class Hello { public static String hello() { return "CREATE TABLE none (id NUMBER);"; } }
/
CREATE OR REPLACE TYPE BODY t AS MEMBER FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END; END;
/
DECLARE
  n NUMBER;
BEGIN
  SELECT COUNT(*) INTO n FROM user_tables WHERE table_name = 'D'; -- in a block
END;
/
<<here>>
BEGIN NULL; END;
/
create table d (id number)
/
-- A block without an end goes up to the next definition.
CREATE OR REPLACE PROCEDURE open_end IS
BEGIN
  NULL;
END;
CREATE TABLE e (id NUMBER);
BEGIN NULL; END;
/
CREATE TABLE f (id NUMBER); CREATE TABLE g (id NUMBER);
exit -
success