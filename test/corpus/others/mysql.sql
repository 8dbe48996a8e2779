-- Moodle's ad-hoc tasks
-- qgen:queue moodle done=delete failed=keep
CREATE TABLE mdl_task_adhoc (
  id bigint(10) NOT NULL AUTO_INCREMENT,
  component varchar(255) NOT NULL DEFAULT '',
  classname varchar(255) NOT NULL DEFAULT '',    -- qgen:payload
  nextruntime bigint(10) NOT NULL,               -- qgen:due as=epoch; order 1
  faildelay bigint(10) DEFAULT NULL,
  customdata longtext,                           -- qgen:payload
  userid bigint(10) DEFAULT NULL,                -- qgen:payload
  blocking tinyint(2) NOT NULL DEFAULT '0',
  timecreated bigint(10) NOT NULL DEFAULT '0',   -- qgen:enqueued as=epoch
  timestarted bigint(10) DEFAULT NULL,           -- qgen:claimed as=epoch timeout=24h expired=recover
  hostname varchar(255) DEFAULT NULL,            -- qgen:worker
  pid bigint(10) DEFAULT NULL,
  attemptsavailable tinyint(2) DEFAULT NULL,     -- qgen:attempts down null=unlimited
  firststartingtime bigint(10) DEFAULT NULL,
  PRIMARY KEY (id),
  KEY mdl_taskadho_nex_ix (nextruntime),
  KEY mdl_taskadho_tim_ix (timestarted)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;

-- Magento's queue over its database: one row for each message and queue
-- qgen:queue magento
CREATE TABLE `queue_message_status` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `queue_id` int unsigned NOT NULL COMMENT 'qgen:topic',
  `message_id` bigint unsigned NOT NULL COMMENT 'qgen:payload',
  `updated_at` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT 'Updated At',
  `status` smallint unsigned NOT NULL COMMENT 'qgen:status ready=2|5 running=3 done=4 failed=6; on retry set 5',
  `number_of_trials` smallint unsigned NOT NULL DEFAULT '0' COMMENT 'qgen:attempts up on=retry max=3',
  PRIMARY KEY (`id`),
  UNIQUE KEY `QUEUE_MESSAGE_STATUS_QUEUE_ID_MESSAGE_ID` (`queue_id`,`message_id`),
  KEY `QUEUE_MESSAGE_STATUS_STATUS_UPDATED_AT` (`status`,`updated_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COMMENT='Relation table to keep associations between queues and messages';

-- Mautic
-- qgen:queue mautic
CREATE TABLE message_queue (
  id int unsigned NOT NULL AUTO_INCREMENT,
  event_id int unsigned DEFAULT NULL,
  lead_id bigint unsigned NOT NULL,              -- qgen:payload
  channel varchar(191) NOT NULL,                 -- qgen:topic
  channel_id int NOT NULL,                       -- qgen:payload
  priority smallint NOT NULL,                    -- qgen:priority asc
  max_attempts smallint NOT NULL,
  attempts smallint NOT NULL,                    -- qgen:attempts up on=retry max=max_attempts
  success tinyint(1) NOT NULL,                   -- qgen:status done:=1 failed:=0
  status varchar(191) NOT NULL,                  -- qgen:status ready=pending|rescheduled running=processing done=sent failed=failed; on retry set rescheduled
  date_published datetime DEFAULT NULL,          -- qgen:enqueued clock=utc
  scheduled_date datetime DEFAULT NULL,          -- qgen:due clock=utc; order 2
  last_attempt datetime DEFAULT NULL,            -- qgen:on claim set now clock=utc
  date_sent datetime DEFAULT NULL,               -- qgen:finished clock=utc
  options longtext,                              -- qgen:payload
  PRIMARY KEY (id),
  KEY message_status_search (status),
  KEY message_schedule (scheduled_date)
) ENGINE=InnoDB;

-- Nextcloud's background jobs: one that runs again and again is given back with Requeue
-- qgen:queue nextcloud done=delete failed=keep
CREATE TABLE `oc_jobs` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `class` varchar(255) COLLATE utf8mb4_bin NOT NULL DEFAULT '',  -- qgen:payload
  `argument` varchar(4000) COLLATE utf8mb4_bin NOT NULL DEFAULT '', -- qgen:payload
  `last_run` int DEFAULT '0',                    -- qgen:on claim set now as=epoch
  `last_checked` int DEFAULT '0',                -- qgen:order 1; on claim set now as=epoch
  `reserved_at` int DEFAULT '0',                 -- qgen:claimed as=epoch timeout=12h free=0 expired=claim
  `execution_duration` int DEFAULT '0',
  `argument_hash` varchar(32) COLLATE utf8mb4_bin DEFAULT NULL,
  `time_sensitive` smallint NOT NULL DEFAULT '1', -- qgen:topic optional
  PRIMARY KEY (`id`),
  KEY `job_class_index` (`class`),
  KEY `job_lastcheck_reserved` (`last_checked`,`reserved_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Postal
-- qgen:queue postal done=delete failed=keep
CREATE TABLE queued_messages (
  id int NOT NULL AUTO_INCREMENT,
  server_id int DEFAULT NULL,
  message_id int DEFAULT NULL,                   -- qgen:payload
  domain varchar(255) DEFAULT NULL,              -- qgen:payload
  locked_by varchar(255) DEFAULT NULL,           -- qgen:worker
  locked_at datetime DEFAULT NULL,               -- qgen:claimed clock=utc timeout=1h expired=claim
  retry_after datetime DEFAULT NULL,             -- qgen:due clock=utc
  created_at datetime(6) DEFAULT NULL,           -- qgen:enqueued clock=utc
  updated_at datetime(6) DEFAULT NULL,           -- qgen:on claim,retry,release set now clock=utc
  ip_address_id int DEFAULT NULL,                -- qgen:topic any=null
  attempts int DEFAULT '0',                      -- qgen:attempts up on=retry max=18
  route_id int DEFAULT NULL,
  manual tinyint(1) DEFAULT '0',
  batch_key varchar(255) DEFAULT NULL,
  PRIMARY KEY (id),
  KEY index_queued_messages_on_domain (domain(8)),
  KEY index_queued_messages_on_message_id (message_id)
) ENGINE=InnoDB;

-- Kannel's sqlbox: a message is taken by deleting it
-- qgen:queue kannel strategy=pop
CREATE TABLE send_sms (
  sql_id BIGINT(20) NOT NULL AUTO_INCREMENT PRIMARY KEY,
  momt ENUM('MO', 'MT', 'DLR') NULL,
  sender VARCHAR(20) NULL,
  receiver VARCHAR(20) NULL,
  udhdata BLOB NULL,
  msgdata TEXT NULL,
  time BIGINT(20) NULL,                          -- qgen:enqueued as=epoch
  smsc_id VARCHAR(255) NULL,
  service VARCHAR(255) NULL,
  account VARCHAR(255) NULL,
  id BIGINT(20) NULL,
  sms_type BIGINT(20) NULL,
  boxc_id VARCHAR(255) NULL,                     -- qgen:topic
  binfo VARCHAR(255) NULL,
  meta_data TEXT NULL,
  foreign_id VARCHAR(255) NULL
) ENGINE=InnoDB;

-- Eventuate Tram's outbox
-- qgen:queue eventuate strategy=hold
CREATE TABLE message (
  id VARCHAR(255) PRIMARY KEY,
  destination LONGTEXT NOT NULL,                 -- qgen:payload
  headers LONGTEXT NOT NULL,                     -- qgen:payload
  payload LONGTEXT NOT NULL,                     -- qgen:payload
  published SMALLINT DEFAULT 0,                  -- qgen:status ready=0 done=1
  message_partition SMALLINT,                    -- qgen:topic any=null
  creation_time BIGINT                           -- qgen:enqueued as=epoch_ms
) ENGINE=InnoDB;
CREATE INDEX message_published_idx ON message(published, id);
