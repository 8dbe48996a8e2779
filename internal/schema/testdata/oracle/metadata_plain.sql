--------------------------------------------------------
--  DDL for Sequence: nothing ends a statement, as DBMS_METADATA writes them by itself
--------------------------------------------------------

   CREATE SEQUENCE  "Q_SEQ"  MINVALUE 1 MAXVALUE 999999 INCREMENT BY 1 START WITH 1 CACHE 20 NOORDER  NOCYCLE

-- qgen:queue q
  CREATE TABLE "Q" 
   (	"ID" NUMBER(10,0), -- qgen:id
	"STATE" VARCHAR2(1) DEFAULT 'N'
   ) SEGMENT CREATION IMMEDIATE 
  TABLESPACE "USERS"
  CREATE UNIQUE INDEX "Q_PK" ON "Q" ("ID") 
  TABLESPACE "USERS"
  ALTER TABLE "Q" ADD CONSTRAINT "Q_PK" PRIMARY KEY ("ID") USING INDEX "Q_PK"  ENABLE
  ALTER TABLE "Q" MODIFY ("STATE" NOT NULL ENABLE)
  COMMENT ON COLUMN "Q"."STATE" IS 'qgen:status ready=N'
  CREATE OR REPLACE FUNCTION "F" RETURN NUMBER IS
  n NUMBER;
BEGIN
  n := 1; RETURN n;
END;
  CREATE OR REPLACE TRIGGER "Q_BI" BEFORE INSERT ON "Q" FOR EACH ROW
BEGIN
  :new.id := q_seq.nextval;
END;
  CREATE TABLE "R" ("ID" NUMBER) TABLESPACE "USERS"
REM INSERTING into R
SET DEFINE OFF;
Insert into R (ID) values (1);
  CREATE TABLE "S" ("ID" NUMBER) TABLESPACE "USERS"
Insert into S (ID) values (1);
GRANT
CREATE TABLE TO scott;
