-- The tables of Action Scheduler as SQL Server would have them.
-- qgen:queue actions
CREATE TABLE dbo.actionscheduler_actions (
    action_id bigint IDENTITY PRIMARY KEY,
    hook      varchar(191) NOT NULL,
    status    varchar(20) NOT NULL,         -- qgen:status ready=pending running=in-progress done=complete failed=failed
    priority  tinyint NOT NULL DEFAULT 10,  -- qgen:priority asc
    attempts  int NOT NULL DEFAULT 0,       -- qgen:attempts up on=claim max=3
    claim_id  bigint NOT NULL DEFAULT 0     -- qgen:token free=0 from=companion
);
GO
CREATE TABLE dbo.actionscheduler_claims (
    claim_id         bigint IDENTITY PRIMARY KEY,
    holder           varchar(64),
    date_created_gmt datetimeoffset
);
