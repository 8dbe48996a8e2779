-- Hangfire's queue of fetched jobs, as its Install.sql leaves it after all migrations.
SET NOCOUNT ON
DECLARE @TARGET_SCHEMA_VERSION AS INT;
SET @TARGET_SCHEMA_VERSION = 9;
GO
CREATE SCHEMA [HangFire]
GO
CREATE TABLE [HangFire].[Job] (
    [Id] [bigint] IDENTITY(1,1) NOT NULL,
    [StateId] [bigint] NULL,
    [StateName] [nvarchar](20) NULL,
    [InvocationData] [nvarchar](max) NOT NULL,
    [Arguments] [nvarchar](max) NOT NULL,
    [CreatedAt] [datetime] NOT NULL,
    [ExpireAt] [datetime] NULL,
    CONSTRAINT [PK_HangFire_Job] PRIMARY KEY CLUSTERED ([Id] ASC)
)
GO
-- qgen:queue jobs done=delete failed=keep
CREATE TABLE [HangFire].[JobQueue] (
    [Id] [bigint] IDENTITY(1,1) NOT NULL, -- qgen:id 2; order 2
    [JobId] [bigint] NOT NULL,            -- qgen:payload
    [Queue] [nvarchar](50) NOT NULL,      -- qgen:id 1; topic list; order 1
    [FetchedAt] [datetime] NULL           -- qgen:claimed timeout=30m expired=claim clock=utc
)
GO
ALTER TABLE [HangFire].[JobQueue] ADD CONSTRAINT [PK_HangFire_JobQueue] PRIMARY KEY CLUSTERED ([Queue] ASC, [Id] ASC)
GO
