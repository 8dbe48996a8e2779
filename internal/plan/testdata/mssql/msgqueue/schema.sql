USE [Messaging]
GO
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [dbo].[MsgQueue](
	[MsgQueueId] [int] IDENTITY(1,1) NOT NULL,
	[MsgTypeCode] [varchar](20) NOT NULL, -- qgen:topic
	[Msg] [nvarchar](max) NOT NULL, -- qgen:payload
	[State] [char](1) NOT NULL, -- qgen:status ready=N running=A done=C failed=E
	[CreateTime] [datetime] NOT NULL, -- qgen:enqueued clock=local; order 1
	[StartTime] [datetime] NULL, -- qgen:claimed clock=local
	[EndTime] [datetime] NULL, -- qgen:finished clock=local
	[ReaderCode] [varchar](50) NULL, -- qgen:worker
 CONSTRAINT [PK_MsgQueue] PRIMARY KEY CLUSTERED
(
	[MsgQueueId] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
ALTER TABLE [dbo].[MsgQueue] ADD  CONSTRAINT [DF_MsgQueue_State]  DEFAULT ('N') FOR [State]
GO
ALTER TABLE [dbo].[MsgQueue] ADD  CONSTRAINT [DF_MsgQueue_CreateTime]  DEFAULT (getdate()) FOR [CreateTime]
GO
CREATE NONCLUSTERED INDEX [IX_MsgQueue_Ready] ON [dbo].[MsgQueue]
(
	[MsgTypeCode] ASC,
	[CreateTime] ASC,
	[MsgQueueId] ASC
)
WHERE ([State]='N')
GO
CREATE TABLE [dbo].[Audited](
	[Id] [uniqueidentifier] NOT NULL CONSTRAINT [DF_Audited_Id] DEFAULT (newsequentialid()),
	[Status] [tinyint] NOT NULL CONSTRAINT [DF_Audited_Status] DEFAULT ((0)), -- qgen:status ready=0 running=1 done=2 failed=9
	[Owner] [binary](16) NULL, -- qgen:token
	[Until] [smalldatetime] NULL, -- qgen:lease length=10m clock=utc
	[Enqueued] [datetime2](3) NOT NULL CONSTRAINT [DF_Audited_Enqueued] DEFAULT (sysutcdatetime()), -- qgen:enqueued clock=utc; order 1
	[Done] [date] NULL, -- qgen:finished
	[Text] [varchar](max) NOT NULL, -- qgen:payload
 CONSTRAINT [PK_Audited] PRIMARY KEY CLUSTERED ([Id] ASC)
)
GO
CREATE TRIGGER [dbo].[Audited_Log] ON [dbo].[Audited] AFTER INSERT, UPDATE AS
BEGIN
	SET NOCOUNT ON;
	INSERT INTO dbo.AuditLog (Id, At) SELECT Id, SYSUTCDATETIME() FROM inserted;
END
GO
CREATE TABLE dbo.pending (
    region int NOT NULL,
    seq    int NOT NULL,
    data   varbinary(max) NULL, -- qgen:payload
    PRIMARY KEY (region, seq)
)
GO
CREATE TABLE dbo.files (
    name      nvarchar(400) NOT NULL PRIMARY KEY,
    processed bit NOT NULL DEFAULT 0, -- qgen:status ready=false done=true
    hash_code int NULL -- qgen:shard mod
)
GO
