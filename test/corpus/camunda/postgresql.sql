-- Camunda's jobs: a claim writes its owner and until when, and counts the revision; tries are counted down, and what has none
-- left stays. Of the exclusive jobs of a process instance one runs at a time.
create table ACT_GE_BYTEARRAY (
    ID_ varchar(64) not null,
    REV_ integer,
    NAME_ varchar(255),
    BYTES_ bytea,
    primary key (ID_)
);

create table ACT_RU_EXECUTION (
    ID_ varchar(64),
    REV_ integer,
    ROOT_PROC_INST_ID_ varchar(64),
    PROC_INST_ID_ varchar(64),
    BUSINESS_KEY_ varchar(255),
    SUSPENSION_STATE_ integer,
    primary key (ID_)
);

-- qgen:queue jobs done=delete failed=keep
-- qgen:where "SUSPENSION_STATE_ = 1"
create table ACT_RU_JOB (
    ID_ varchar(64) NOT NULL,
    REV_ integer,                         -- qgen:version
    TYPE_ varchar(255) NOT NULL,          -- qgen:payload
    LOCK_EXP_TIME_ timestamp,             -- qgen:lease length=5m expired=claim
    LOCK_OWNER_ varchar(255),             -- qgen:worker
    EXCLUSIVE_ boolean,                   -- qgen:payload
    EXECUTION_ID_ varchar(64),            -- qgen:payload
    PROCESS_INSTANCE_ID_ varchar(64),     -- qgen:payload
    PROCESS_DEF_ID_ varchar(64),          -- qgen:payload
    PROCESS_DEF_KEY_ varchar(255),        -- qgen:payload
    RETRIES_ integer,                     -- qgen:attempts down
    EXCEPTION_STACK_ID_ varchar(64),
    EXCEPTION_MSG_ varchar(4000),         -- qgen:error max=2000
    DUEDATE_ timestamp,                   -- qgen:due; order 2
    REPEAT_ varchar(255),
    HANDLER_TYPE_ varchar(255),           -- qgen:payload
    HANDLER_CFG_ varchar(4000),           -- qgen:payload
    DEPLOYMENT_ID_ varchar(64),           -- qgen:topic list any=null
    SUSPENSION_STATE_ integer NOT NULL DEFAULT 1,
    JOB_DEF_ID_ varchar(64),
    PRIORITY_ bigint NOT NULL DEFAULT 0,  -- qgen:priority desc
    SEQUENCE_COUNTER_ bigint,
    TENANT_ID_ varchar(64),               -- qgen:payload
    primary key (ID_)
);

create index ACT_IDX_JOB_EXECUTION_ID on ACT_RU_JOB(EXECUTION_ID_);
create index ACT_IDX_JOB_PROCINST on ACT_RU_JOB(PROCESS_INSTANCE_ID_);
create index ACT_IDX_JOB_TENANT_ID on ACT_RU_JOB(TENANT_ID_);
create index ACT_IDX_JOB_HANDLER_TYPE on ACT_RU_JOB(HANDLER_TYPE_);
create index ACT_IDX_JOB_JOB_DEF_ID on ACT_RU_JOB(JOB_DEF_ID_);

alter table ACT_RU_JOB
    add constraint ACT_FK_JOB_EXCEPTION
    foreign key (EXCEPTION_STACK_ID_)
    references ACT_GE_BYTEARRAY (ID_);
