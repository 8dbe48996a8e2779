/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19-11.8.6-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 127.0.0.1    Database: dumped
-- ------------------------------------------------------
-- Server version	11.8.6-MariaDB-0+deb13u1 from Debian

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */;

--
-- Sequence structure for `numbers`
--

DROP SEQUENCE IF EXISTS `numbers`;
CREATE SEQUENCE `numbers` start with 1 minvalue 1 maxvalue 9223372036854775806 increment by 1 cache 1000 nocycle ENGINE=InnoDB;
DO SETVAL(`numbers`, 1, 0);

--
-- Table structure for table `aria`
--

DROP TABLE IF EXISTS `aria`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `aria` (
  `id` int(11) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=Aria DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci PAGE_CHECKSUM=1 TRANSACTIONAL=1;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `jobs`
--

DROP TABLE IF EXISTS `jobs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `jobs` (
  `id` uuid NOT NULL DEFAULT uuid(),
  `n` bigint(20) NOT NULL DEFAULT nextval(`dumped`.`numbers`),
  `m` bigint(20) NOT NULL DEFAULT nextval(`dumped`.`numbers`),
  `state` varchar(10) NOT NULL DEFAULT 'N' CHECK (`state` in ('N','A','C')),
  `kind` char(1) NOT NULL,
  `prio` int(11) NOT NULL DEFAULT (1 + 2),
  `run_at` timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  `body` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '{}' CHECK (json_valid(`body`)),
  `twice` int(11) GENERATED ALWAYS AS (`prio` * 2) STORED,
  `v` int(11) GENERATED ALWAYS AS (`prio` * 3) VIRTUAL,
  `hidden` int(11) DEFAULT 3 INVISIBLE,
  `host` inet6 DEFAULT NULL,
  `old_host` inet4 DEFAULT '0.0.0.0',
  `big` text /*M!100301 COMPRESSED*/ DEFAULT NULL,
  `memo` text DEFAULT NULL,
  `note` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_kind` (`kind`,`prio` DESC),
  UNIQUE KEY `whole` (`memo`) USING HASH,
  KEY `ready` (`state`,`prio` DESC,`run_at`,`id`),
  KEY `unused` (`run_at`) IGNORED,
  CONSTRAINT `kinds` CHECK (`kind` in ('a','b') or `kind` = 'c'),
  CONSTRAINT `CONSTRAINT_1` CHECK (`prio` > 0)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci COMMENT='the jobs' `PAGE_COMPRESSED`=1 WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `parts`
--

DROP TABLE IF EXISTS `parts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `parts` (
  `id` int(11) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci
 PARTITION BY LIST (`id`)
(PARTITION `p0` VALUES IN (1) ENGINE = InnoDB,
 PARTITION `p1` DEFAULT ENGINE = InnoDB);
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `periods`
--

DROP TABLE IF EXISTS `periods`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `periods` (
  `id` int(11) NOT NULL,
  `a` timestamp(6) GENERATED ALWAYS AS ROW START,
  `b` timestamp(6) GENERATED ALWAYS AS ROW END,
  `c` date NOT NULL,
  `d` date NOT NULL,
  `x` int(11) DEFAULT NULL WITHOUT SYSTEM VERSIONING,
  PERIOD FOR `valid` (`c`, `d`),
  PRIMARY KEY (`id`,`b`),
  UNIQUE KEY `x` (`x`,`b`,`valid` WITHOUT OVERLAPS),
  PERIOD FOR SYSTEM_TIME (`a`, `b`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci WITH SYSTEM VERSIONING;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping routines for database 'dumped'
--
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*M!100616 SET NOTE_VERBOSITY=@OLD_NOTE_VERBOSITY */;

-- Dump completed
