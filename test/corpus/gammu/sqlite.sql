-- qgen:queue sms
-- qgen:where "SendAfter <= {time} AND SendBefore >= {time} AND SendDays & {arg:day int} <> 0"
CREATE TABLE outbox (
  UpdatedInDB NUMERIC NOT NULL DEFAULT (datetime('now')),   -- qgen:ignore -- the trigger writes it
  InsertIntoDB NUMERIC NOT NULL DEFAULT (datetime('now')),  -- qgen:enqueued as=text:'2006-01-02 15:04:05'; order 2
  SendingDateTime NUMERIC NOT NULL DEFAULT (datetime('now')), -- qgen:due as=text:'2006-01-02 15:04:05'
  SendBefore time NOT NULL DEFAULT '23:59:59',
  SendAfter time NOT NULL DEFAULT '00:00:00',
  SendDays INTEGER NOT NULL DEFAULT 127,
  Text TEXT,                                    -- qgen:payload
  DestinationNumber TEXT NOT NULL DEFAULT '',   -- qgen:payload
  Coding TEXT NOT NULL DEFAULT 'Default_No_Compression', -- qgen:payload
  UDH TEXT,                                     -- qgen:payload
  Class INTEGER DEFAULT '-1',                   -- qgen:payload
  TextDecoded TEXT NOT NULL DEFAULT '',         -- qgen:payload
  ID INTEGER PRIMARY KEY AUTOINCREMENT,
  MultiPart TEXT NOT NULL DEFAULT 'false',      -- qgen:payload
  RelativeValidity INTEGER DEFAULT '-1',        -- qgen:payload
  SenderID TEXT,                                -- qgen:topic optional any=null|''
  SendingTimeOut NUMERIC NULL DEFAULT (datetime('now')), -- qgen:lease length=60s free=now expired=claim as=text:'2006-01-02 15:04:05'
  DeliveryReport TEXT DEFAULT 'default',        -- qgen:payload
  CreatorID TEXT NOT NULL,                      -- qgen:payload
  Retries INTEGER DEFAULT 0,                    -- qgen:attempts up on=retry max=5
  Priority INTEGER DEFAULT 0,                   -- qgen:priority desc
  Status TEXT NOT NULL DEFAULT 'Reserved',      -- qgen:ignore
  StatusCode INTEGER NOT NULL DEFAULT -1,       -- qgen:payload
  CHECK (Status IN ('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error','Reserved')),
  CHECK (Coding IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression')),
  CHECK (DeliveryReport IN ('default','yes','no'))
);

CREATE INDEX outbox_date ON outbox(SendingDateTime, SendingTimeOut);
CREATE INDEX outbox_sender ON outbox(SenderID);

CREATE TRIGGER update_outbox_time UPDATE ON outbox
BEGIN
  UPDATE outbox SET UpdatedInDB = datetime('now') WHERE ID = old.ID;
END;

CREATE TABLE outbox_multipart (
  Text TEXT,
  Coding TEXT NOT NULL DEFAULT 'Default_No_Compression',
  UDH TEXT,
  Class INTEGER DEFAULT '-1',
  TextDecoded TEXT DEFAULT NULL,
  ID INTEGER,
  SequencePosition INTEGER NOT NULL DEFAULT 1,
  Status TEXT NOT NULL DEFAULT 'Reserved',
  StatusCode INTEGER NOT NULL DEFAULT -1,
  PRIMARY KEY (ID, SequencePosition)
);

CREATE TABLE sentitems (
  UpdatedInDB NUMERIC NOT NULL DEFAULT (datetime('now')),
  InsertIntoDB NUMERIC NOT NULL DEFAULT (datetime('now')),
  SendingDateTime NUMERIC NOT NULL DEFAULT (datetime('now')),
  DeliveryDateTime NUMERIC NULL,
  Text TEXT NOT NULL,
  DestinationNumber TEXT NOT NULL DEFAULT '',
  Coding TEXT NOT NULL DEFAULT 'Default_No_Compression',
  UDH TEXT NOT NULL,
  SMSCNumber TEXT NOT NULL DEFAULT '',
  Class INTEGER NOT NULL DEFAULT '-1',
  TextDecoded TEXT NOT NULL DEFAULT '',
  ID INTEGER,
  SenderID TEXT NOT NULL,
  SequencePosition INTEGER NOT NULL DEFAULT 1,
  Status TEXT NOT NULL DEFAULT 'SendingOK',
  StatusError INTEGER NOT NULL DEFAULT -1,
  TPMR INTEGER NOT NULL DEFAULT -1,
  RelativeValidity INTEGER NOT NULL DEFAULT -1,
  CreatorID TEXT NOT NULL,
  StatusCode INTEGER NOT NULL DEFAULT -1,
  CHECK (Status IN ('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error')),
  PRIMARY KEY (ID, SequencePosition)
);

CREATE INDEX sentitems_date ON sentitems(DeliveryDateTime);
CREATE INDEX sentitems_tpmr ON sentitems(TPMR);
CREATE INDEX sentitems_dest ON sentitems(DestinationNumber);
CREATE INDEX sentitems_sender ON sentitems(SenderID);
