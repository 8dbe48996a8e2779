-- NServiceBus' transport over SQL Server: RowVersion is the order, Id may come twice, nothing marks a row
-- qgen:queue nservicebus strategy=pop
CREATE TABLE [dbo].[Orders] (
    Id uniqueidentifier NOT NULL,                -- qgen:payload
    CorrelationId varchar(255),
    ReplyToAddress varchar(255),
    Recoverable bit NOT NULL,
    Expires datetime,                            -- qgen:expires clock=utc
    Headers nvarchar(max) NOT NULL,              -- qgen:payload
    Body varbinary(max),                         -- qgen:payload
    RowVersion bigint IDENTITY(1,1) NOT NULL     -- qgen:id
);
GO
CREATE NONCLUSTERED INDEX Index_RowVersion ON [dbo].[Orders] ([RowVersion] ASC) WITH (PAD_INDEX = OFF);
GO
-- Rebus' lease transport
-- qgen:queue rebus done=delete failed=keep
CREATE TABLE [dbo].[RebusMessages] (
    [id] [bigint] IDENTITY(1,1) NOT NULL,
    [recipient] [nvarchar](200) NOT NULL,        -- qgen:topic
    [priority] [int] NOT NULL,                   -- qgen:priority desc
    [expiration] [datetimeoffset] NOT NULL,      -- qgen:expires
    [visible] [datetimeoffset] NOT NULL,         -- qgen:due; order 2
    [headers] [varbinary](max) NOT NULL,         -- qgen:payload
    [body] [varbinary](max) NOT NULL,            -- qgen:payload
    [leaseduntil] [datetime2] NULL,              -- qgen:lease length=5m expired=claim clock=utc
    [leasedby] [nvarchar](max) NULL,             -- qgen:worker
    [leasedat] [datetime2] NULL,                 -- qgen:on claim set now clock=utc
    CONSTRAINT [PK_dbo_RebusMessages] PRIMARY KEY CLUSTERED ([recipient] ASC, [priority] ASC, [id] ASC)
);
GO
-- CAP's outbox
-- qgen:queue cap
CREATE TABLE [cap].[Published] (
    [Id] [bigint] NOT NULL,
    [Version] [nvarchar](20) NOT NULL,           -- qgen:topic
    [Name] [nvarchar](200) NOT NULL,             -- qgen:payload
    [Content] [nvarchar](max) NULL,              -- qgen:payload
    [Retries] [int] NOT NULL,                    -- qgen:attempts up on=retry max=50
    [Added] [datetime2](7) NOT NULL,             -- qgen:enqueued clock=local; order
    [ExpiresAt] [datetime2](7) NULL,             -- qgen:on done set "dateadd(day, 1, sysdatetime())"
    [StatusName] [nvarchar](50) NOT NULL,        -- qgen:status ready=Scheduled|Delayed running=Queued done=Succeeded failed=Failed
    CONSTRAINT [PK_cap.Published] PRIMARY KEY CLUSTERED ([Id] ASC)
);
GO
