create table ACT_GE_BYTEARRAY (
    ID_ nvarchar(64) not null,
    REV_ int,
    NAME_ nvarchar(255),
    BYTES_ image,
    primary key (ID_)
);

create table ACT_RU_EXECUTION (
    ID_ nvarchar(64) not null,
    REV_ int,
    ROOT_PROC_INST_ID_ nvarchar(64),
    PROC_INST_ID_ nvarchar(64),
    BUSINESS_KEY_ nvarchar(255),
    SUSPENSION_STATE_ int,
    primary key (ID_)
);

-- qgen:queue jobs done=delete failed=keep
-- qgen:where "SUSPENSION_STATE_ = 1"
create table ACT_RU_JOB (
    ID_ nvarchar(64) NOT NULL,
    REV_ int,                              -- qgen:version
    TYPE_ nvarchar(255) NOT NULL,          -- qgen:payload
    LOCK_EXP_TIME_ datetime2,              -- qgen:lease length=5m expired=claim
    LOCK_OWNER_ nvarchar(255),             -- qgen:worker
    EXCLUSIVE_ tinyint,                    -- qgen:payload
    EXECUTION_ID_ nvarchar(64),            -- qgen:payload
    PROCESS_INSTANCE_ID_ nvarchar(64),     -- qgen:payload
    PROCESS_DEF_ID_ nvarchar(64),          -- qgen:payload
    PROCESS_DEF_KEY_ nvarchar(255),        -- qgen:payload
    RETRIES_ int,                          -- qgen:attempts down
    EXCEPTION_STACK_ID_ nvarchar(64),
    EXCEPTION_MSG_ nvarchar(4000),         -- qgen:error max=2000
    DUEDATE_ datetime2,                    -- qgen:due; order 2
    REPEAT_ nvarchar(255),
    HANDLER_TYPE_ nvarchar(255),           -- qgen:payload
    HANDLER_CFG_ nvarchar(4000),           -- qgen:payload
    DEPLOYMENT_ID_ nvarchar(64),           -- qgen:topic list any=null
    SUSPENSION_STATE_ int NOT NULL DEFAULT 1,
    JOB_DEF_ID_ nvarchar(64),
    PRIORITY_ numeric(19,0) NOT NULL DEFAULT 0, -- qgen:priority desc
    SEQUENCE_COUNTER_ numeric(19,0),
    TENANT_ID_ nvarchar(64),               -- qgen:payload
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
