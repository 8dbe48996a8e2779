-- Action Scheduler of WooCommerce. Each claim is a row of wp_actionscheduler_claims, whose id is
-- the claim_id of its actions. A zero date is no time of an action, 0 is no claim. WordPress allows
-- such dates in its sessions.
-- qgen:queue actions clock=utc
CREATE TABLE `wp_actionscheduler_actions` (
  `action_id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `hook` varchar(191) NOT NULL,
  `status` varchar(20) NOT NULL, -- qgen:status ready=pending running=in-progress done=complete failed=failed
  `scheduled_date_gmt` datetime NULL default '0000-00-00 00:00:00', -- qgen:due; order 2
  `scheduled_date_local` datetime NULL default '0000-00-00 00:00:00', -- qgen:payload
  `priority` tinyint unsigned NOT NULL default '10', -- qgen:priority asc
  `args` varchar(191),
  `schedule` longtext,
  `group_id` bigint unsigned NOT NULL default '0',
  `attempts` int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
  `last_attempt_gmt` datetime NULL default '0000-00-00 00:00:00', -- qgen:claimed timeout=5m
  `last_attempt_local` datetime NULL default '0000-00-00 00:00:00', -- qgen:ignore
  `claim_id` bigint unsigned NOT NULL default '0', -- qgen:token free=0 from=companion
  `extended_args` varchar(8000) DEFAULT NULL,
  PRIMARY KEY  (`action_id`),
  KEY `hook_status_scheduled_date_gmt` (`hook`(163), `status`, `scheduled_date_gmt`),
  KEY `status_scheduled_date_gmt` (`status`, `scheduled_date_gmt`),
  KEY `claim_id_status_priority_scheduled_date_gmt` (`claim_id`,`status`,`priority`,`scheduled_date_gmt`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;

CREATE TABLE `wp_actionscheduler_claims` (
  `claim_id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `date_created_gmt` datetime NULL default '0000-00-00 00:00:00',
  PRIMARY KEY  (`claim_id`),
  KEY `date_created_gmt` (`date_created_gmt`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;

-- A line is written when an action is added, and they go with it.
CREATE TABLE `wp_actionscheduler_logs` (
  `log_id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `action_id` bigint unsigned NOT NULL,
  `message` text NOT NULL,
  `log_date_gmt` datetime NULL default '0000-00-00 00:00:00',
  `log_date_local` datetime NULL default '0000-00-00 00:00:00',
  PRIMARY KEY  (`log_id`),
  KEY `action_id` (`action_id`),
  KEY `log_date_gmt` (`log_date_gmt`)
) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4;
