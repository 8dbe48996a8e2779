-- Gammu's SMS daemon: a message waits in outbox until it goes to sentitems. Status tells of its delivery and nothing of the
-- queue; who may send it, and at what hour and on which days, stands in the row.
CREATE OR REPLACE FUNCTION update_timestamp() RETURNS trigger AS $$
  BEGIN
    NEW."UpdatedInDB" := LOCALTIMESTAMP(0);
    RETURN NEW;
  END;
$$ LANGUAGE plpgsql;

-- qgen:queue sms
-- qgen:where """SendAfter"" <= {time} AND ""SendBefore"" >= {time} AND ""SendDays"" & {arg:day int} <> 0"
CREATE TABLE outbox (
  "UpdatedInDB" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0), -- qgen:ignore -- the trigger writes it
  "InsertIntoDB" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0), -- qgen:enqueued; order 2
  "SendingDateTime" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0), -- qgen:due
  "SendBefore" time NOT NULL DEFAULT '23:59:59',
  "SendAfter" time NOT NULL DEFAULT '00:00:00',
  "SendDays" integer NOT NULL DEFAULT 127,
  "Text" text,                                  -- qgen:payload
  "DestinationNumber" varchar(20) NOT NULL DEFAULT '', -- qgen:payload
  "Coding" varchar(255) NOT NULL DEFAULT 'Default_No_Compression', -- qgen:payload
  "UDH" text,                                   -- qgen:payload
  "Class" integer DEFAULT '-1',                 -- qgen:payload
  "TextDecoded" text NOT NULL DEFAULT '',       -- qgen:payload
  "ID" serial PRIMARY KEY,
  "MultiPart" boolean NOT NULL DEFAULT false,   -- qgen:payload
  "RelativeValidity" integer DEFAULT '-1',      -- qgen:payload
  "SenderID" varchar(255),                      -- qgen:topic optional any=null|''
  "SendingTimeOut" timestamp(0) WITHOUT time zone NULL DEFAULT LOCALTIMESTAMP(0), -- qgen:lease length=60s free=now expired=claim
  "DeliveryReport" varchar(10) DEFAULT 'default', -- qgen:payload
  "CreatorID" text NOT NULL,                    -- qgen:payload
  "Retries" integer DEFAULT '0',                -- qgen:attempts up on=retry max=5
  "Priority" integer DEFAULT '0',               -- qgen:priority desc
  "Status" varchar(255) NOT NULL DEFAULT 'Reserved', -- qgen:ignore
  "StatusCode" integer NOT NULL DEFAULT '-1',   -- qgen:payload
  CHECK ("Coding" IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression')),
  CHECK ("DeliveryReport" IN ('default','yes','no')),
  CHECK ("Status" IN ('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error','Reserved'))
);

CREATE INDEX outbox_date ON outbox("SendingDateTime", "SendingTimeOut");
CREATE INDEX outbox_sender ON outbox("SenderID");

CREATE TRIGGER update_timestamp BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE PROCEDURE update_timestamp();

CREATE TABLE outbox_multipart (
  "Text" text,
  "Coding" varchar(255) NOT NULL DEFAULT 'Default_No_Compression',
  "UDH" text,
  "Class" integer DEFAULT '-1',
  "TextDecoded" text DEFAULT NULL,
  "ID" serial,
  "SequencePosition" integer NOT NULL DEFAULT '1',
  "Status" varchar(255) NOT NULL DEFAULT 'Reserved',
  "StatusCode" integer NOT NULL DEFAULT '-1',
  PRIMARY KEY ("ID", "SequencePosition"),
  CHECK ("Coding" IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression'))
);

CREATE TABLE sentitems (
  "UpdatedInDB" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0),
  "InsertIntoDB" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0),
  "SendingDateTime" timestamp(0) WITHOUT time zone NOT NULL DEFAULT LOCALTIMESTAMP(0),
  "DeliveryDateTime" timestamp(0) WITHOUT time zone NULL,
  "Text" text NOT NULL,
  "DestinationNumber" varchar(20) NOT NULL DEFAULT '',
  "Coding" varchar(255) NOT NULL DEFAULT 'Default_No_Compression',
  "UDH" text NOT NULL,
  "SMSCNumber" varchar(20) NOT NULL DEFAULT '',
  "Class" integer NOT NULL DEFAULT '-1',
  "TextDecoded" text NOT NULL DEFAULT '',
  "ID" serial,
  "SenderID" varchar(255) NOT NULL,
  "SequencePosition" integer NOT NULL DEFAULT '1',
  "Status" varchar(255) NOT NULL DEFAULT 'SendingOK',
  "StatusError" integer NOT NULL DEFAULT '-1',
  "TPMR" integer NOT NULL DEFAULT '-1',
  "RelativeValidity" integer NOT NULL DEFAULT '-1',
  "CreatorID" text NOT NULL,
  "StatusCode" integer NOT NULL DEFAULT '-1',
  PRIMARY KEY ("ID", "SequencePosition"),
  CHECK ("Status" IN ('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error')),
  CHECK ("Coding" IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression'))
);

CREATE INDEX sentitems_date ON sentitems("DeliveryDateTime");
CREATE INDEX sentitems_tpmr ON sentitems("TPMR");
CREATE INDEX sentitems_dest ON sentitems("DestinationNumber");
CREATE INDEX sentitems_sender ON sentitems("SenderID");

CREATE TRIGGER update_timestamp BEFORE UPDATE ON sentitems FOR EACH ROW EXECUTE PROCEDURE update_timestamp();
