-- qgen:queue sms
-- qgen:where "SendAfter <= {time} AND SendBefore >= {time} AND SendDays & {arg:day int} <> 0"
CREATE TABLE [outbox] (
  [UpdatedInDB] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:ignore -- the trigger writes it
  [InsertIntoDB] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:enqueued; order 2
  [SendingDateTime] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:due
  [SendBefore] time(0) NOT NULL DEFAULT '23:59:59',
  [SendAfter] time(0) NOT NULL DEFAULT '00:00:00',
  [SendDays] int NOT NULL DEFAULT 127,
  [Text] nvarchar(max),                         -- qgen:payload
  [DestinationNumber] nvarchar(20) NOT NULL DEFAULT '', -- qgen:payload
  [Coding] nvarchar(255) NOT NULL DEFAULT 'Default_No_Compression', -- qgen:payload
  [UDH] nvarchar(max),                          -- qgen:payload
  [Class] int DEFAULT -1,                       -- qgen:payload
  [TextDecoded] nvarchar(max) NOT NULL DEFAULT '', -- qgen:payload
  [ID] int IDENTITY(1,1) PRIMARY KEY,
  [MultiPart] bit NOT NULL DEFAULT 0,           -- qgen:payload
  [RelativeValidity] int DEFAULT -1,            -- qgen:payload
  [SenderID] nvarchar(255),                     -- qgen:topic optional any=null|''
  [SendingTimeOut] datetime NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:lease length=60s free=now expired=claim
  [DeliveryReport] nvarchar(10) DEFAULT 'default', -- qgen:payload
  [CreatorID] nvarchar(max) NOT NULL,           -- qgen:payload
  [Retries] int DEFAULT 0,                      -- qgen:attempts up on=retry max=5
  [Priority] int DEFAULT 0,                     -- qgen:priority desc
  [Status] nvarchar(255) NOT NULL DEFAULT 'Reserved', -- qgen:ignore
  [StatusCode] int NOT NULL DEFAULT -1,         -- qgen:payload
  CHECK ([Coding] IN ('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression')),
  CHECK ([DeliveryReport] IN ('default','yes','no')),
  CHECK ([Status] IN ('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error','Reserved'))
)
GO
CREATE INDEX outbox_date ON [outbox] ([SendingDateTime], [SendingTimeOut])
GO
CREATE INDEX outbox_sender ON [outbox] ([SenderID])
GO
CREATE TRIGGER outbox_updated ON [outbox] AFTER UPDATE AS
BEGIN
  SET NOCOUNT ON
  UPDATE o SET [UpdatedInDB] = CURRENT_TIMESTAMP FROM [outbox] o JOIN inserted i ON i.[ID] = o.[ID]
END
GO
CREATE TABLE [outbox_multipart] (
  [Text] nvarchar(max),
  [Coding] nvarchar(255) NOT NULL DEFAULT 'Default_No_Compression',
  [UDH] nvarchar(max),
  [Class] int DEFAULT -1,
  [TextDecoded] nvarchar(max),
  [ID] int NOT NULL,
  [SequencePosition] int NOT NULL DEFAULT 1,
  [Status] nvarchar(255) NOT NULL DEFAULT 'Reserved',
  [StatusCode] int NOT NULL DEFAULT -1,
  PRIMARY KEY ([ID], [SequencePosition])
)
GO
CREATE TABLE [sentitems] (
  [UpdatedInDB] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  [InsertIntoDB] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  [SendingDateTime] datetime NOT NULL DEFAULT CURRENT_TIMESTAMP,
  [DeliveryDateTime] datetime NULL,
  [Text] nvarchar(max) NOT NULL,
  [DestinationNumber] nvarchar(20) NOT NULL DEFAULT '',
  [Coding] nvarchar(255) NOT NULL DEFAULT 'Default_No_Compression',
  [UDH] nvarchar(max) NOT NULL,
  [SMSCNumber] nvarchar(20) NOT NULL DEFAULT '',
  [Class] int NOT NULL DEFAULT -1,
  [TextDecoded] nvarchar(max) NOT NULL DEFAULT '',
  [ID] int NOT NULL,
  [SenderID] nvarchar(255) NOT NULL,
  [SequencePosition] int NOT NULL DEFAULT 1,
  [Status] nvarchar(255) NOT NULL DEFAULT 'SendingOK',
  [StatusError] int NOT NULL DEFAULT -1,
  [TPMR] int NOT NULL DEFAULT -1,
  [RelativeValidity] int NOT NULL DEFAULT -1,
  [CreatorID] nvarchar(max) NOT NULL,
  [StatusCode] int NOT NULL DEFAULT -1,
  PRIMARY KEY ([ID], [SequencePosition])
)
GO
