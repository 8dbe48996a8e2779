-- Tables of MyISAM, as Gammu makes them: a claim is one UPDATE, and what is written to two tables can be torn by a crash.
-- qgen:queue sms
-- qgen:where "SendAfter <= {time} AND SendBefore >= {time} AND SendDays & {arg:day int} <> 0"
CREATE TABLE `outbox` (
  `UpdatedInDB` timestamp NOT NULL default CURRENT_TIMESTAMP on update CURRENT_TIMESTAMP, -- qgen:ignore
  `InsertIntoDB` timestamp NOT NULL default CURRENT_TIMESTAMP, -- qgen:enqueued; order 2
  `SendingDateTime` timestamp NOT NULL default CURRENT_TIMESTAMP, -- qgen:due
  `SendBefore` time NOT NULL DEFAULT '23:59:59',
  `SendAfter` time NOT NULL DEFAULT '00:00:00',
  `SendDays` integer NOT NULL DEFAULT '127',
  `Text` text,                                  -- qgen:payload
  `DestinationNumber` varchar(20) NOT NULL default '', -- qgen:payload
  `Coding` enum('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression') NOT NULL default 'Default_No_Compression', -- qgen:payload
  `UDH` text,                                   -- qgen:payload
  `Class` integer default '-1',                 -- qgen:payload
  `TextDecoded` text NOT NULL,                  -- qgen:payload
  `ID` integer unsigned NOT NULL auto_increment,
  `MultiPart` enum('false','true') default 'false', -- qgen:payload
  `RelativeValidity` integer default '-1',      -- qgen:payload
  `SenderID` varchar(255),                      -- qgen:topic optional any=null|''
  `SendingTimeOut` timestamp NULL default CURRENT_TIMESTAMP, -- qgen:lease length=60s free=now expired=claim
  `DeliveryReport` enum('default','yes','no') default 'default', -- qgen:payload
  `CreatorID` text NOT NULL,                    -- qgen:payload
  `Retries` int(3) default 0,                   -- qgen:attempts up on=retry max=5
  `Priority` integer default 0,                 -- qgen:priority desc
  `Status` enum('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error','Reserved') NOT NULL default 'Reserved', -- qgen:ignore
  `StatusCode` integer NOT NULL default '-1',   -- qgen:payload
  PRIMARY KEY `ID` (`ID`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4;

CREATE INDEX outbox_date ON outbox(SendingDateTime, SendingTimeOut);
CREATE INDEX outbox_sender ON outbox(SenderID(250));

CREATE TABLE `outbox_multipart` (
  `Text` text,
  `Coding` enum('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression') NOT NULL default 'Default_No_Compression',
  `UDH` text,
  `Class` integer default '-1',
  `TextDecoded` text,
  `ID` integer unsigned NOT NULL default '0',
  `SequencePosition` integer NOT NULL default '1',
  `Status` enum('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error','Reserved') NOT NULL default 'Reserved',
  `StatusCode` integer NOT NULL default '-1',
  PRIMARY KEY (`ID`, `SequencePosition`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4;

CREATE TABLE `sentitems` (
  `UpdatedInDB` timestamp NOT NULL default CURRENT_TIMESTAMP on update CURRENT_TIMESTAMP,
  `InsertIntoDB` timestamp NOT NULL default CURRENT_TIMESTAMP,
  `SendingDateTime` timestamp NOT NULL default CURRENT_TIMESTAMP,
  `DeliveryDateTime` timestamp NULL,
  `Text` text NOT NULL,
  `DestinationNumber` varchar(20) NOT NULL default '',
  `Coding` enum('Default_No_Compression','Unicode_No_Compression','8bit','Default_Compression','Unicode_Compression') NOT NULL default 'Default_No_Compression',
  `UDH` text NOT NULL,
  `SMSCNumber` varchar(20) NOT NULL default '',
  `Class` integer NOT NULL default '-1',
  `TextDecoded` text NOT NULL,
  `ID` integer unsigned NOT NULL default '0',
  `SenderID` varchar(255) NOT NULL,
  `SequencePosition` integer NOT NULL default '1',
  `Status` enum('SendingOK','SendingOKNoReport','SendingError','DeliveryOK','DeliveryFailed','DeliveryPending','DeliveryUnknown','Error') NOT NULL default 'SendingOK',
  `StatusError` integer NOT NULL default '-1',
  `TPMR` integer NOT NULL default '-1',
  `RelativeValidity` integer NOT NULL default '-1',
  `CreatorID` text NOT NULL,
  `StatusCode` integer NOT NULL default '-1',
  PRIMARY KEY (`ID`, `SequencePosition`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb4;

CREATE INDEX sentitems_date ON sentitems(DeliveryDateTime);
CREATE INDEX sentitems_tpmr ON sentitems(TPMR);
CREATE INDEX sentitems_dest ON sentitems(DestinationNumber);
CREATE INDEX sentitems_sender ON sentitems(SenderID(250));
