CREATE SEQUENCE outbox_seq START WITH 1 INCREMENT BY 1;

-- qgen:queue sms
-- qgen:where "SendAfter <= {time} AND SendBefore >= {time} AND bitand(SendDays, {arg:day int}) <> 0"
CREATE TABLE outbox (
  UpdatedInDB TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL, -- qgen:ignore -- the trigger writes it
  InsertIntoDB TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL, -- qgen:enqueued; order 2
  SendingDateTime TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL, -- qgen:due
  SendBefore VARCHAR2(8) DEFAULT '23:59:59' NOT NULL,
  SendAfter VARCHAR2(8) DEFAULT '00:00:00' NOT NULL,
  SendDays NUMBER(3) DEFAULT 127 NOT NULL,
  Text CLOB,                                    -- qgen:payload
  DestinationNumber VARCHAR2(20) NOT NULL,      -- qgen:payload
  Coding VARCHAR2(22) DEFAULT 'Default_No_Compression' NOT NULL, -- qgen:payload
  UDH CLOB,                                     -- qgen:payload
  Class NUMBER(10) DEFAULT -1,                  -- qgen:payload
  TextDecoded CLOB,                             -- qgen:payload
  ID NUMBER(19) NOT NULL,
  MultiPart VARCHAR2(5) DEFAULT 'false',        -- qgen:payload
  RelativeValidity NUMBER(10) DEFAULT -1,       -- qgen:payload
  SenderID VARCHAR2(255),                       -- qgen:topic optional any=null
  SendingTimeOut TIMESTAMP(0) DEFAULT LOCALTIMESTAMP, -- qgen:lease length=60s free=now expired=claim
  DeliveryReport VARCHAR2(7) DEFAULT 'default', -- qgen:payload
  CreatorID CLOB,                               -- qgen:payload
  Retries NUMBER(3) DEFAULT 0,                  -- qgen:attempts up on=retry max=5
  Priority NUMBER(10) DEFAULT 0,                -- qgen:priority desc
  Status VARCHAR2(17) DEFAULT 'Reserved' NOT NULL, -- qgen:ignore
  StatusCode NUMBER(10) DEFAULT -1 NOT NULL,    -- qgen:payload
  CONSTRAINT outbox_coding CHECK (Coding IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression')),
  CONSTRAINT outbox_report CHECK (DeliveryReport IN ('default','yes','no')),
  CONSTRAINT outbox_parts CHECK (MultiPart IN ('false','true')),
  CONSTRAINT outbox_pk PRIMARY KEY (ID)
);

CREATE INDEX outbox_date ON outbox (SendingDateTime, SendingTimeOut);
CREATE INDEX outbox_sender ON outbox (SenderID);

CREATE OR REPLACE TRIGGER outbox_biu BEFORE INSERT OR UPDATE ON outbox FOR EACH ROW
BEGIN
  :NEW.UpdatedInDB := LOCALTIMESTAMP;
  IF INSERTING AND :NEW.ID IS NULL THEN
    SELECT outbox_seq.NEXTVAL INTO :NEW.ID FROM dual;
  END IF;
END;
/

CREATE TABLE outbox_multipart (
  Text CLOB,
  Coding VARCHAR2(22) DEFAULT 'Default_No_Compression' NOT NULL,
  UDH CLOB,
  Class NUMBER(10) DEFAULT -1,
  TextDecoded CLOB,
  ID NUMBER(19) NOT NULL,
  SequencePosition NUMBER(10) DEFAULT 1 NOT NULL,
  Status VARCHAR2(17) DEFAULT 'Reserved' NOT NULL,
  StatusCode NUMBER(10) DEFAULT -1 NOT NULL,
  CONSTRAINT outbox_multipart_pk PRIMARY KEY (ID, SequencePosition)
);

CREATE TABLE sentitems (
  UpdatedInDB TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL,
  InsertIntoDB TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL,
  SendingDateTime TIMESTAMP(0) DEFAULT LOCALTIMESTAMP NOT NULL,
  DeliveryDateTime TIMESTAMP(0),
  Text CLOB,
  DestinationNumber VARCHAR2(20) NOT NULL,
  Coding VARCHAR2(22) DEFAULT 'Default_No_Compression' NOT NULL,
  UDH CLOB,
  SMSCNumber VARCHAR2(20),
  Class NUMBER(10) DEFAULT -1 NOT NULL,
  TextDecoded CLOB,
  ID NUMBER(19) NOT NULL,
  SenderID VARCHAR2(255),
  SequencePosition NUMBER(10) DEFAULT 1 NOT NULL,
  Status VARCHAR2(17) DEFAULT 'SendingOK' NOT NULL,
  StatusError NUMBER(10) DEFAULT -1 NOT NULL,
  TPMR NUMBER(10) DEFAULT -1 NOT NULL,
  RelativeValidity NUMBER(10) DEFAULT -1 NOT NULL,
  CreatorID CLOB,
  StatusCode NUMBER(10) DEFAULT -1 NOT NULL,
  CONSTRAINT sentitems_pk PRIMARY KEY (ID, SequencePosition)
);
