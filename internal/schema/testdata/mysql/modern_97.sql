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
-- Table structure for table `buckets`
--

DROP TABLE IF EXISTS `buckets`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `buckets` (
  `id` int NOT NULL,
  `x` int DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY HASH ((`id` DIV 10))
PARTITIONS 4 */;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `hidden_key`
--

DROP TABLE IF EXISTS `hidden_key`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `hidden_key` (
  `n` int DEFAULT NULL,
  UNIQUE KEY `n` (`n`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `jobs`
--

DROP TABLE IF EXISTS `jobs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `jobs` (
  `id` binary(16) NOT NULL DEFAULT (uuid_to_bin(uuid(),1)),
  `state` varchar(10) NOT NULL DEFAULT 'N',
  `kind` char(1) NOT NULL,
  `prio` int NOT NULL DEFAULT ((1 + 2)),
  `run_at` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  `body` json NOT NULL DEFAULT (json_object(_utf8mb4'a',1)),
  `kind_and_prio` varchar(30) GENERATED ALWAYS AS (concat(`kind`,_utf8mb4':',`prio`)) STORED NOT NULL,
  `topic` varchar(50) GENERATED ALWAYS AS (json_unquote(json_extract(`body`,_utf8mb4'$.topic'))) VIRTUAL,
  `hidden` int DEFAULT NULL /*!80023 INVISIBLE */,
  `nick` varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT (_utf8mb4'it\'s'),
  `place` point /*!80003 SRID 4326 */ DEFAULT NULL,
  `vec` vector(3) DEFAULT NULL,
  `done` tinyint(1) NOT NULL DEFAULT '0',
  `many` tinyint unsigned NOT NULL DEFAULT '1',
  PRIMARY KEY (`id`),
  UNIQUE KEY `by_kind` (`kind`,`prio` DESC),
  KEY `ready` (`state`,`prio` DESC,`run_at`,`id`),
  KEY `unused` (`run_at`) /*!80000 INVISIBLE */,
  KEY `part` (`nick`(5)),
  KEY `late` (((case when (`state` = _utf8mb4'N') then `run_at` end)),`id`),
  KEY `lower_nick` ((lower(`nick`)) DESC),
  CONSTRAINT `few` CHECK ((`many` < 9)) /*!80016 NOT ENFORCED */,
  CONSTRAINT `jobs_chk_1` CHECK ((`state` in (_utf8mb4'N',_utf8mb4'A',_utf8mb4'C'))),
  CONSTRAINT `jobs_chk_2` CHECK (((`prio` > 0) and (`many` > 0))),
  CONSTRAINT `kinds` CHECK (((`kind` in (_utf8mb4'a',_utf8mb4'b')) or (`kind` = _utf8mb4'c')))
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='the jobs';
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `parts`
--

DROP TABLE IF EXISTS `parts`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `parts` (
  `id` bigint NOT NULL AUTO_INCREMENT,
  `day` date NOT NULL,
  PRIMARY KEY (`id`,`day`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50500 PARTITION BY RANGE  COLUMNS(`day`)
(PARTITION p0 VALUES LESS THAN ('2024-01-01') ENGINE = InnoDB,
 PARTITION pn VALUES LESS THAN (MAXVALUE) ENGINE = InnoDB) */;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Table structure for table `shards`
--

DROP TABLE IF EXISTS `shards`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!50503 SET character_set_client = utf8mb4 */;
CREATE TABLE `shards` (
  `id` int NOT NULL,
  `x` int DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci
/*!50100 PARTITION BY KEY (id)
PARTITIONS 4 */;
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
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed
