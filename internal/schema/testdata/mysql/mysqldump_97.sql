-- MySQL dump 10.13  Distrib 9.7.4, for Linux (x86_64)
--
-- Host: 127.0.0.1    Database: dumped
-- ------------------------------------------------------
-- Server version	9.7.4-2

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Table structure for table `email_outbox`
--

DROP TABLE IF EXISTS `email_outbox`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `email_outbox` (
  `msg_id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `state` enum('N','A','C','E') NOT NULL DEFAULT 'N' COMMENT 'qgen:status ready=N running=A done=C failed=E',
  `kind` varchar(20) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL COMMENT 'qgen:topic',
  `priority` int NOT NULL DEFAULT '0' COMMENT 'what the sender asks for; qgen:priority desc',
  `created_at` datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  `changed_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `not_before` timestamp(3) NULL DEFAULT NULL COMMENT 'qgen:due',
  `lease_till` datetime(6) DEFAULT NULL COMMENT 'qgen:lease length=5m expired=recover',
  `reader` char(36) DEFAULT NULL COMMENT 'qgen:worker',
  `token` binary(16) DEFAULT NULL COMMENT 'qgen:token',
  `tries` smallint unsigned NOT NULL DEFAULT '0' COMMENT 'qgen:attempts up on=claim max=5',
  `urgent` tinyint(1) NOT NULL DEFAULT '0',
  `opened` bit(1) NOT NULL DEFAULT b'0',
  `flags` set('a','b c','d''e') DEFAULT NULL,
  `fee` decimal(10,2) DEFAULT '1.50',
  `weight` double DEFAULT NULL,
  `ratio` float DEFAULT NULL,
  `vintage` year DEFAULT NULL,
  `day` date DEFAULT NULL,
  `at` time(3) DEFAULT NULL,
  `last_error` text COMMENT 'qgen:error',
  `it's "odd" name` varchar(255) DEFAULT 'it''s "quoted" \\ and\nbroken',
  `body` mediumblob NOT NULL COMMENT 'a back\\slash, a ''quote'', a `tick`; qgen:payload',
  PRIMARY KEY (`msg_id`),
  UNIQUE KEY `by_token` (`token`),
  KEY `ready` (`state`,`priority`,`created_at`,`msg_id`),
  KEY `by_name` (`it's "odd" name`(20)) COMMENT 'only the beginning',
  FULLTEXT KEY `words` (`last_error`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='qgen:queue email';
/*!40101 SET character_set_client = @saved_cs_client */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_0900_ai_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`qgen`@`%`*/ /*!50003 TRIGGER `outbox_in` BEFORE INSERT ON `email_outbox` FOR EACH ROW BEGIN
  -- a statement of its own ends here;
  IF NEW.priority < 0 THEN SET NEW.priority = 0; END IF;
  SET NEW.urgent = CASE WHEN NEW.priority > 9 THEN 1 ELSE 0 END;
END */;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Table structure for table `email_part`
--

DROP TABLE IF EXISTS `email_part`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `email_part` (
  `msg_id` bigint unsigned NOT NULL,
  `n` tinyint unsigned NOT NULL,
  PRIMARY KEY (`msg_id`,`n`),
  CONSTRAINT `part_of` FOREIGN KEY (`msg_id`) REFERENCES `email_outbox` (`msg_id`) ON DELETE CASCADE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `log lines`
--

DROP TABLE IF EXISTS `log lines`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `log lines` (
  `part` int NOT NULL,
  `seq` bigint NOT NULL,
  `line` varbinary(300) DEFAULT NULL,
  `tick``s` tinyint DEFAULT '-1',
  `n` mediumint(8) unsigned zerofill DEFAULT NULL,
  `noted` tinytext,
  `shot` longblob,
  PRIMARY KEY (`part`,`seq`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1
/*!50100 PARTITION BY LIST (`part`)
(PARTITION p0 VALUES IN (0) ENGINE = InnoDB,
 PARTITION p1 VALUES IN (1,2) ENGINE = InnoDB) */;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `sms`
--

DROP TABLE IF EXISTS `sms`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `sms` (
  `ID` int unsigned NOT NULL AUTO_INCREMENT,
  `Text` text NOT NULL,
  `Coding` enum('Default_No_Compression','8bit','Unicode') NOT NULL DEFAULT 'Default_No_Compression',
  `email` bigint unsigned DEFAULT NULL,
  PRIMARY KEY (`ID`),
  KEY `email` (`email`)
) ENGINE=MyISAM DEFAULT CHARSET=utf8mb3;
/*!40101 SET character_set_client = @saved_cs_client */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_0900_ai_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`qgen`@`%`*/ /*!50003 TRIGGER `sms_out` AFTER DELETE ON `sms` FOR EACH ROW DELETE FROM `log lines` WHERE `seq` = OLD.ID */;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Temporary view structure for view `waiting`
--

DROP TABLE IF EXISTS `waiting`;
/*!50001 DROP VIEW IF EXISTS `waiting`*/;
SET @saved_cs_client     = @@character_set_client;
/*!50503 SET character_set_client = utf8mb4 */;
/*!50001 CREATE VIEW `waiting` AS SELECT 
 1 AS `msg_id`,
 1 AS `sort`,
 1 AS `next`*/;
SET character_set_client = @saved_cs_client;

--
-- Dumping routines for database 'dumped'
--
/*!50003 DROP PROCEDURE IF EXISTS `sweep` */;
/*!50003 SET @saved_cs_client      = @@character_set_client */ ;
/*!50003 SET @saved_cs_results     = @@character_set_results */ ;
/*!50003 SET @saved_col_connection = @@collation_connection */ ;
/*!50003 SET character_set_client  = utf8mb4 */ ;
/*!50003 SET character_set_results = utf8mb4 */ ;
/*!50003 SET collation_connection  = utf8mb4_0900_ai_ci */ ;
/*!50003 SET @saved_sql_mode       = @@sql_mode */ ;
/*!50003 SET sql_mode              = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION' */ ;
DELIMITER ;;
CREATE DEFINER=`qgen`@`%` PROCEDURE `sweep`()
BEGIN DELETE FROM `sms`; CREATE TABLE IF NOT EXISTS `never` (`id` int); END ;;
DELIMITER ;
/*!50003 SET sql_mode              = @saved_sql_mode */ ;
/*!50003 SET character_set_client  = @saved_cs_client */ ;
/*!50003 SET character_set_results = @saved_cs_results */ ;
/*!50003 SET collation_connection  = @saved_col_connection */ ;

--
-- Final view structure for view `waiting`
--

/*!50001 DROP VIEW IF EXISTS `waiting`*/;
/*!50001 SET @saved_cs_client          = @@character_set_client */;
/*!50001 SET @saved_cs_results         = @@character_set_results */;
/*!50001 SET @saved_col_connection     = @@collation_connection */;
/*!50001 SET character_set_client      = utf8mb4 */;
/*!50001 SET character_set_results     = utf8mb4 */;
/*!50001 SET collation_connection      = utf8mb4_0900_ai_ci */;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`qgen`@`%` SQL SECURITY DEFINER */
/*!50001 VIEW `waiting` AS select `email_outbox`.`msg_id` AS `msg_id`,`email_outbox`.`kind` AS `sort`,(`email_outbox`.`priority` + 1) AS `next` from `email_outbox` where (`email_outbox`.`state` = 'N') */;
/*!50001 SET character_set_client      = @saved_cs_client */;
/*!50001 SET character_set_results     = @saved_cs_results */;
/*!50001 SET collation_connection      = @saved_col_connection */;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed
