create table ACT_GE_BYTEARRAY (
    ID_ NVARCHAR2(64) not null,
    REV_ INTEGER,
    NAME_ NVARCHAR2(255),
    BYTES_ BLOB,
    primary key (ID_)
);

create table ACT_RU_EXECUTION (
    ID_ NVARCHAR2(64),
    REV_ INTEGER,
    ROOT_PROC_INST_ID_ NVARCHAR2(64),
    PROC_INST_ID_ NVARCHAR2(64),
    BUSINESS_KEY_ NVARCHAR2(255),
    SUSPENSION_STATE_ INTEGER,
    primary key (ID_)
);

-- qgen:queue jobs done=delete failed=keep
-- qgen:where "SUSPENSION_STATE_ = 1"
create table ACT_RU_JOB (
    ID_ NVARCHAR2(64) NOT NULL,
    REV_ INTEGER,                          -- qgen:version
    TYPE_ NVARCHAR2(255) NOT NULL,         -- qgen:payload
    LOCK_EXP_TIME_ TIMESTAMP(6),           -- qgen:lease length=5m expired=claim
    LOCK_OWNER_ NVARCHAR2(255),            -- qgen:worker
    EXCLUSIVE_ NUMBER(1,0) CHECK (EXCLUSIVE_ IN (1,0)), -- qgen:payload
    EXECUTION_ID_ NVARCHAR2(64),           -- qgen:payload
    PROCESS_INSTANCE_ID_ NVARCHAR2(64),    -- qgen:payload
    PROCESS_DEF_ID_ NVARCHAR2(64),         -- qgen:payload
    PROCESS_DEF_KEY_ NVARCHAR2(255),       -- qgen:payload
    RETRIES_ INTEGER,                      -- qgen:attempts down
    EXCEPTION_STACK_ID_ NVARCHAR2(64),
    EXCEPTION_MSG_ NVARCHAR2(2000),        -- qgen:error max=2000
    DUEDATE_ TIMESTAMP(6),                 -- qgen:due; order 2
    REPEAT_ NVARCHAR2(255),
    HANDLER_TYPE_ NVARCHAR2(255),          -- qgen:payload
    HANDLER_CFG_ NVARCHAR2(2000),          -- qgen:payload
    DEPLOYMENT_ID_ NVARCHAR2(64),          -- qgen:topic list any=null
    SUSPENSION_STATE_ INTEGER DEFAULT 1 NOT NULL,
    JOB_DEF_ID_ NVARCHAR2(64),
    PRIORITY_ NUMBER(19,0) DEFAULT 0 NOT NULL, -- qgen:priority desc
    SEQUENCE_COUNTER_ NUMBER(19,0),
    TENANT_ID_ NVARCHAR2(64),              -- qgen:payload
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
