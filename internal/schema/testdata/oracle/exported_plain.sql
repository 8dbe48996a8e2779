--------------------------------------------------------
--  DDL for Table LOG
--------------------------------------------------------

  CREATE TABLE "LOG" ("AT" DATE, "TEXT" VARCHAR2(100))
  PARTITION BY RANGE ("AT") INTERVAL (NUMTODSINTERVAL(1,'DAY')) 
 (PARTITION "P0"  VALUES LESS THAN (TO_DATE(' 2020-01-01 00:00:00', 'SYYYY-MM-DD HH24:MI:SS', 'NLS_CALENDAR=GREGORIAN')))
--------------------------------------------------------
--  DDL for Table MAIL
--------------------------------------------------------

  CREATE TABLE "MAIL" ("ID" NUMBER(19,0), "STATE" CHAR(1) DEFAULT 'N', "KIND" VARCHAR2(20 CHAR), "PRIORITY" NUMBER(*,0) DEFAULT 0, "DUE" TIMESTAMP (6) DEFAULT SYSTIMESTAMP, "SEEN" DATE, "BODY" CLOB, "BIG" FLOAT(126))

   COMMENT ON COLUMN "MAIL"."STATE" IS 'qgen:status ready=N running=A done=C'
--------------------------------------------------------
--  DDL for Table Mixed
--------------------------------------------------------

  CREATE TABLE "Mixed" ("Id" NUMBER GENERATED ALWAYS AS IDENTITY MINVALUE 1 MAXVALUE 9999999999999999999999999999 INCREMENT BY 1 START WITH 1 CACHE 20 NOORDER  NOCYCLE  NOKEEP  NOSCALE , "N" NUMBER(5,0) GENERATED ALWAYS AS ("Id"*2) VIRTUAL , "Mail Id" NUMBER(19,0), CONSTRAINT "Mixed_PK" PRIMARY KEY ("Id") ENABLE) ORGANIZATION INDEX NOCOMPRESS
--------------------------------------------------------
--  DDL for View WAITING
--------------------------------------------------------

  CREATE OR REPLACE FORCE EDITIONABLE VIEW "WAITING" ("ID", "DUE") AS 
  SELECT id, due FROM mail WHERE state = 'N'
;
--------------------------------------------------------
--  DDL for Index
--------------------------------------------------------

  CREATE UNIQUE INDEX "MAIL_PK" ON "MAIL" ("ID")
  CREATE UNIQUE INDEX "MAIL_KIND" ON "MAIL" ("KIND", "PRIORITY")
  CREATE INDEX "MAIL_READY" ON "MAIL" (CASE "STATE" WHEN 'N' THEN "DUE" END , "PRIORITY" DESC)
  CREATE UNIQUE INDEX "MAIL_SEEN" ON "MAIL" ("SEEN")
--------------------------------------------------------
--  DDL for Trigger MAIL_BI
--------------------------------------------------------

  CREATE OR REPLACE EDITIONABLE TRIGGER "MAIL_BI" BEFORE INSERT ON mail FOR EACH ROW
 WHEN (new.id IS NULL) BEGIN :new.id := mail_seq.NEXTVAL; END;
/
ALTER TRIGGER "MAIL_BI" ENABLE
--------------------------------------------------------
--  Constraints for Table MAIL
--------------------------------------------------------

  ALTER TABLE "MAIL" MODIFY ("STATE" CONSTRAINT "MAIL_STATE_NN" NOT NULL ENABLE)
  ALTER TABLE "MAIL" MODIFY ("KIND" NOT NULL ENABLE)
  ALTER TABLE "MAIL" MODIFY ("PRIORITY" NOT NULL ENABLE)
  ALTER TABLE "MAIL" ADD CONSTRAINT "MAIL_STATE" CHECK (state IN ('N', 'A', 'C')) ENABLE
  ALTER TABLE "MAIL" ADD CONSTRAINT "MAIL_JSON" CHECK (body IS JSON) ENABLE
  ALTER TABLE "MAIL" ADD CONSTRAINT "MAIL_PK" PRIMARY KEY ("ID") USING INDEX  ENABLE
  ALTER TABLE "MAIL" ADD CONSTRAINT "MAIL_KIND" UNIQUE ("KIND", "PRIORITY") USING INDEX "MAIL_KIND"  ENABLE
  ALTER TABLE "Mixed" MODIFY ("Mail Id" NOT NULL ENABLE)
  ALTER TABLE "Mixed" ADD FOREIGN KEY ("Mail Id")
	  REFERENCES "MAIL" ("ID") ENABLE
  ALTER TABLE "LOG" MODIFY ("AT" NOT NULL ENABLE)
