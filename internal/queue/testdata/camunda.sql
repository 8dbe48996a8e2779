CREATE TABLE ACT_RU_JOB (
  ID_ varchar(64) NOT NULL,
  REV_ integer,
  LOCK_EXP_TIME_ timestamp,
  LOCK_OWNER_ varchar(255),
  PROCESS_INSTANCE_ID_ varchar(64),
  RETRIES_ integer,
  EXCEPTION_MSG_ varchar(4000),
  DUEDATE_ timestamp,
  DEPLOYMENT_ID_ varchar(64),
  SUSPENSION_STATE_ integer NOT NULL DEFAULT 1,
  PRIORITY_ bigint NOT NULL DEFAULT 0
);
ALTER TABLE ACT_RU_JOB ADD PRIMARY KEY (ID_);
COMMENT ON TABLE  ACT_RU_JOB IS 'qgen:queue jobs done=delete failed=keep clock=local; where "SUSPENSION_STATE_ = 1"';
COMMENT ON COLUMN ACT_RU_JOB.REV_ IS 'qgen:version';
COMMENT ON COLUMN ACT_RU_JOB.LOCK_OWNER_ IS 'qgen:worker';
COMMENT ON COLUMN ACT_RU_JOB.LOCK_EXP_TIME_ IS 'qgen:lease length=5m expired=claim';
COMMENT ON COLUMN ACT_RU_JOB.RETRIES_ IS 'qgen:attempts down';
COMMENT ON COLUMN ACT_RU_JOB.DUEDATE_ IS 'qgen:due; order 2';
COMMENT ON COLUMN ACT_RU_JOB.PRIORITY_ IS 'qgen:priority desc';
COMMENT ON COLUMN ACT_RU_JOB.DEPLOYMENT_ID_ IS 'qgen:topic list any=null|''''';
COMMENT ON COLUMN ACT_RU_JOB.EXCEPTION_MSG_ IS 'qgen:error max=2000';
