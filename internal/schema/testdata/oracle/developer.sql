--------------------------------------------------------
--  File created - Monday-May-05-2025   
--------------------------------------------------------
--------------------------------------------------------
--  DDL for Type IDS
--------------------------------------------------------

  CREATE OR REPLACE EDITIONABLE TYPE "HR"."IDS" as table of number;

/
--------------------------------------------------------
--  DDL for Sequence TASKS_SEQ
--------------------------------------------------------

   CREATE SEQUENCE  "HR"."TASKS_SEQ"  MINVALUE 1 MAXVALUE 9999999999999999999999999999 INCREMENT BY 1 START WITH 21 CACHE 20 NOORDER  NOCYCLE  NOPARTITION ;
--------------------------------------------------------
--  DDL for Table TASKS
--------------------------------------------------------

  CREATE TABLE "HR"."TASKS" 
   (	"TASK_ID" NUMBER(12,0), 
	"STATE" VARCHAR2(8 BYTE), 
	"DUE" DATE DEFAULT sysdate, 
	"OWNER" VARCHAR2(30 BYTE) DEFAULT upper(user), 
	"PAYLOAD" BLOB
   ) SEGMENT CREATION IMMEDIATE 
  PCTFREE 10 PCTUSED 40 INITRANS 1 MAXTRANS 255 NOCOMPRESS LOGGING
  STORAGE(INITIAL 65536 NEXT 1048576 MINEXTENTS 1 MAXEXTENTS 2147483645
  PCTINCREASE 0 FREELISTS 1 FREELIST GROUPS 1 BUFFER_POOL DEFAULT FLASH_CACHE DEFAULT CELL_FLASH_CACHE DEFAULT)
  TABLESPACE "USERS" 
 LOB ("PAYLOAD") STORE AS BASICFILE (
  TABLESPACE "USERS" ENABLE STORAGE IN ROW CHUNK 8192 RETENTION 
  NOCACHE LOGGING ) ;

   COMMENT ON COLUMN "HR"."TASKS"."STATE" IS 'qgen:status ready=waiting running=busy';
   COMMENT ON TABLE "HR"."TASKS"  IS 'qgen:queue tasks';
   GRANT SELECT ON "HR"."TASKS" TO "APP";
--------------------------------------------------------
--  DDL for View WAITING
--------------------------------------------------------

  CREATE OR REPLACE FORCE EDITIONABLE VIEW "HR"."WAITING" ("TASK_ID", "DUE") AS 
  SELECT task_id, due FROM tasks WHERE state = 'waiting'
;
REM INSERTING into HR.TASKS
SET DEFINE OFF;
Insert into HR.TASKS (TASK_ID,STATE,DUE,OWNER) values (1,'waiting',to_date('05-MAY-25','DD-MON-RR'),'it''s');
--------------------------------------------------------
--  DDL for Index TASKS_PK
--------------------------------------------------------

  CREATE UNIQUE INDEX "HR"."TASKS_PK" ON "HR"."TASKS" ("TASK_ID") 
  PCTFREE 10 INITRANS 2 MAXTRANS 255 COMPUTE STATISTICS 
  TABLESPACE "USERS" ;
--------------------------------------------------------
--  DDL for Trigger TASKS_BI
--------------------------------------------------------

  CREATE OR REPLACE EDITIONABLE TRIGGER "HR"."TASKS_BI" 
   before insert on "HR"."TASKS" 
   for each row 
begin  
   if inserting then 
      if :NEW."TASK_ID" is null then 
         select TASKS_SEQ.nextval into :NEW."TASK_ID" from dual; 
      end if; 
   end if; 
end;

/
ALTER TRIGGER "HR"."TASKS_BI" ENABLE;
--------------------------------------------------------
--  DDL for Package WRAPPED_ONE
--------------------------------------------------------

  CREATE OR REPLACE EDITIONABLE PACKAGE "HR"."WRAPPED_ONE" wrapped
a000000
b2
abcd
9
56b 227
Lx8/x1Uba+GSTg6kVCWMcu45KjMwg+3D164VfI7+Rw8ISH69W90TbQfiEguV4nmSNzEmSSir
1jYAm8YFMnxp+7ZRVi486J1kNLwr85JnyecKsZz+xGMPO0+cLK72ysmmfM4I+3zMDksZVNfb

/
--------------------------------------------------------
--  Constraints for Table TASKS
--------------------------------------------------------

  ALTER TABLE "HR"."TASKS" MODIFY ("TASK_ID" NOT NULL ENABLE);
  ALTER TABLE "HR"."TASKS" MODIFY ("STATE" NOT NULL ENABLE);
  ALTER TABLE "HR"."TASKS" ADD CONSTRAINT "TASKS_STATE" CHECK (state in ('waiting','busy','ok')) ENABLE;
  ALTER TABLE "HR"."TASKS" ADD CONSTRAINT "TASKS_PK" PRIMARY KEY ("TASK_ID")
  USING INDEX PCTFREE 10 INITRANS 2 MAXTRANS 255 COMPUTE STATISTICS 
  TABLESPACE "USERS"  ENABLE;
--------------------------------------------------------
--  Ref Constraints for Table TASKS
--------------------------------------------------------

  ALTER TABLE "HR"."TASKS" ADD CONSTRAINT "TASKS_FK" FOREIGN KEY ("OWNER")
	  REFERENCES "HR"."OWNERS" ("NAME") ON DELETE CASCADE ENABLE;
