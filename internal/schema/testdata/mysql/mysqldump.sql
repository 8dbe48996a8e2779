-- What the dumps beside this file were made of; every server from MySQL 5.6 on takes it.

CREATE TABLE `email_outbox` (
  `msg_id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `state` enum('N','A','C','E') NOT NULL DEFAULT 'N' COMMENT 'qgen:status ready=N running=A done=C failed=E',
  `kind` varchar(20) CHARACTER SET ascii NOT NULL COMMENT 'qgen:topic',
  `priority` int NOT NULL DEFAULT 0 COMMENT 'what the sender asks for; qgen:priority desc',
  `created_at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  `changed_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `not_before` timestamp(3) NULL DEFAULT NULL COMMENT 'qgen:due',
  `lease_till` datetime(6) DEFAULT NULL COMMENT 'qgen:lease length=5m expired=recover',
  `reader` char(36) DEFAULT NULL COMMENT 'qgen:worker',
  `token` binary(16) DEFAULT NULL COMMENT 'qgen:token',
  `tries` smallint unsigned NOT NULL DEFAULT 0 COMMENT 'qgen:attempts up on=claim max=5',
  `urgent` tinyint(1) NOT NULL DEFAULT 0,
  `opened` bit(1) NOT NULL DEFAULT b'0',
  `flags` set('a','b c','d''e') DEFAULT NULL,
  `fee` decimal(10,2) DEFAULT '1.50',
  `weight` double DEFAULT NULL,
  `ratio` float DEFAULT NULL,
  `vintage` year DEFAULT NULL,
  `day` date DEFAULT NULL,
  `at` time(3) DEFAULT NULL,
  `last_error` text COMMENT 'qgen:error',
  `it's "odd" name` varchar(255) DEFAULT 'it''s "quoted" \\ and
broken',
  `body` mediumblob NOT NULL COMMENT 'a back\\slash, a ''quote'', a `tick`; qgen:payload',
  PRIMARY KEY (`msg_id`),
  UNIQUE KEY `by_token` (`token`),
  KEY `ready` (`state`,`priority`,`created_at`,`msg_id`),
  KEY `by_name` (`it's "odd" name`(20)) COMMENT 'only the beginning',
  FULLTEXT KEY `words` (`last_error`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='qgen:queue email';

CREATE TABLE `log lines` (
  `part` int NOT NULL,
  `seq` bigint NOT NULL,
  `line` varbinary(300) DEFAULT NULL,
  `tick``s` tinyint DEFAULT '-1',
  `n` mediumint unsigned zerofill DEFAULT NULL,
  `noted` tinytext,
  `shot` longblob,
  PRIMARY KEY (`part`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1
PARTITION BY LIST (`part`)
(PARTITION p0 VALUES IN (0) ENGINE = InnoDB,
 PARTITION p1 VALUES IN (1,2) ENGINE = InnoDB);

CREATE TABLE `sms` (
  `ID` int unsigned NOT NULL AUTO_INCREMENT,
  `Text` text NOT NULL,
  `Coding` enum('Default_No_Compression','8bit','Unicode') NOT NULL DEFAULT 'Default_No_Compression',
  `email` bigint unsigned DEFAULT NULL,
  PRIMARY KEY (`ID`),
  KEY `email` (`email`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8;

CREATE TABLE `email_part` (
  `msg_id` bigint unsigned NOT NULL,
  `n` tinyint unsigned NOT NULL,
  PRIMARY KEY (`msg_id`,`n`),
  CONSTRAINT `part_of` FOREIGN KEY (`msg_id`) REFERENCES `email_outbox` (`msg_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

CREATE VIEW `waiting` AS SELECT `msg_id`, `kind` AS `sort`, `priority` + 1 AS `next` FROM `email_outbox` WHERE `state` = 'N';

DELIMITER ;;
CREATE TRIGGER `outbox_in` BEFORE INSERT ON `email_outbox` FOR EACH ROW
BEGIN
  -- a statement of its own ends here;
  IF NEW.priority < 0 THEN SET NEW.priority = 0; END IF;
  SET NEW.urgent = CASE WHEN NEW.priority > 9 THEN 1 ELSE 0 END;
END;;
CREATE TRIGGER `sms_out` AFTER DELETE ON `sms` FOR EACH ROW DELETE FROM `log lines` WHERE `seq` = OLD.ID;;
CREATE PROCEDURE `sweep`() BEGIN DELETE FROM `sms`; CREATE TABLE IF NOT EXISTS `never` (`id` int); END;;
DELIMITER ;
