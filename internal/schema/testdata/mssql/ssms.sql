USE [Shop]
GO
/****** Object:  Schema [queue]    Script Date: 21.11.2026 10:12:33 ******/
CREATE SCHEMA [queue]
GO
/****** Object:  UserDefinedDataType [dbo].[Flag]    Script Date: 21.11.2026 10:12:33 ******/
CREATE TYPE [dbo].[Flag] FROM [bit] NOT NULL
GO
CREATE TYPE [dbo].[ShortName] FROM [nvarchar](50) NULL
GO
CREATE TYPE [dbo].[IdList] AS TABLE(
	[id] [bigint] NOT NULL,
	PRIMARY KEY CLUSTERED 
(
	[id] ASC
)WITH (IGNORE_DUP_KEY = OFF)
)
GO
/****** Object:  Table [queue].[Job]    Script Date: 21.11.2026 10:12:33 ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [queue].[Job](
	[JobId] [int] IDENTITY(1,1) NOT FOR REPLICATION NOT NULL, -- qgen:id
	[State] [char](1) NOT NULL,
	[Kind] [dbo].[ShortName] NULL,
	[Urgent] [dbo].[Flag] NOT NULL,
	[Priority] [smallint] NOT NULL,
	[CreatedAt] [datetime] NOT NULL,
	[LeaseUntil] [datetime2](7) NULL,
	[Attempts] [tinyint] NOT NULL,
	[Token] [uniqueidentifier] ROWGUIDCOL  NOT NULL,
	[Payload] [nvarchar](max) COLLATE Latin1_General_100_CI_AS_SC_UTF8 NULL,
	[Result] [xml](CONTENT [dbo].[ResultSchema]) NULL,
	[Amount] [decimal](18, 2) NULL,
	[Weight]  AS ([Priority]*(2)),
	[Day]  AS (CONVERT([date],[CreatedAt])) PERSISTED NOT NULL,
	[Version] [timestamp] NOT NULL,
	[Extra] [sql_variant] SPARSE  NULL,
	[Card] [varchar](19) MASKED WITH (FUNCTION = 'partial(0, "XXXX", 4)') NULL,
 CONSTRAINT [PK_Job] PRIMARY KEY CLUSTERED 
(
	[JobId] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON, OPTIMIZE_FOR_SEQUENTIAL_KEY = OFF) ON [PRIMARY],
 CONSTRAINT [UQ_Job_Token] UNIQUE NONCLUSTERED 
(
	[Token] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
/****** Object:  Table [dbo].[Owner]    Script Date: 21.11.2026 10:12:34 ******/
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
SET ANSI_PADDING ON
GO
CREATE TABLE [dbo].[Owner](
	[Id] [int] NOT NULL,
	[Name] [sysname] NOT NULL,
PRIMARY KEY CLUSTERED 
(
	[Id] ASC
)WITH (PAD_INDEX = OFF) ON [PRIMARY]
) ON [PRIMARY]
GO
SET ANSI_PADDING OFF
GO
SET ANSI_PADDING ON
GO
/****** Object:  Index [IX_Job_Ready]    Script Date: 21.11.2026 10:12:34 ******/
CREATE NONCLUSTERED INDEX [IX_Job_Ready] ON [queue].[Job]
(
	[Priority] DESC,
	[JobId] ASC
)
INCLUDE([State],[Kind]) 
WHERE ([State]='N')
WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, SORT_IN_TEMPDB = OFF, DROP_EXISTING = OFF, ONLINE = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
GO
CREATE UNIQUE NONCLUSTERED INDEX [UX_Job_Kind] ON [queue].[Job]
(
	[Kind] ASC
)
WHERE ([Kind] IS NOT NULL AND [State] IN ('N', 'A'))
WITH (PAD_INDEX = OFF) ON [PRIMARY]
GO
ALTER TABLE [queue].[Job] ADD  CONSTRAINT [DF_Job_State]  DEFAULT ('N') FOR [State]
GO
ALTER TABLE [queue].[Job] ADD  DEFAULT ((0)) FOR [Urgent]
GO
ALTER TABLE [queue].[Job] ADD  CONSTRAINT [DF_Job_CreatedAt]  DEFAULT (getdate()) FOR [CreatedAt]
GO
ALTER TABLE [queue].[Job] ADD  CONSTRAINT [DF_Job_LeaseUntil]  DEFAULT (NULL) FOR [LeaseUntil]
GO
ALTER TABLE [queue].[Job] ADD  CONSTRAINT [DF_Job_Token]  DEFAULT (newsequentialid()) FOR [Token]
GO
ALTER TABLE [queue].[Job]  WITH CHECK ADD  CONSTRAINT [FK_Job_Owner] FOREIGN KEY([Attempts])
REFERENCES [dbo].[Owner] ([Id])
ON UPDATE CASCADE
ON DELETE SET NULL
GO
ALTER TABLE [queue].[Job] CHECK CONSTRAINT [FK_Job_Owner]
GO
ALTER TABLE [queue].[Job]  WITH CHECK ADD  CONSTRAINT [CK_Job_State] CHECK  (([State]='E' OR [State]='C' OR [State]='A' OR [State]='N'))
GO
ALTER TABLE [queue].[Job] CHECK CONSTRAINT [CK_Job_State]
GO
ALTER TABLE [queue].[Job]  WITH NOCHECK ADD  CONSTRAINT [CK_Job_Attempts] CHECK NOT FOR REPLICATION (([Attempts]=(1) OR [Attempts]=(0)))
GO
ALTER TABLE [queue].[Job] NOCHECK CONSTRAINT [CK_Job_Attempts]
GO
ALTER TABLE [queue].[Job]  WITH CHECK ADD  CONSTRAINT [CK_Job_Payload] CHECK  ((isjson([Payload])=(1)))
GO
ALTER TABLE [queue].[Job] CHECK CONSTRAINT [CK_Job_Payload]
GO
/****** Object:  StoredProcedure [queue].[Take]    Script Date: 21.11.2026 10:12:34 ******/
CREATE PROCEDURE [queue].[Take] @n int
AS
BEGIN
	SET NOCOUNT ON;
	CREATE TABLE #taken (id int NOT NULL);
	DROP TABLE [dbo].[Owner];
	ALTER TABLE [queue].[Job] DROP COLUMN [State];
END
GO
/****** Object:  Trigger [queue].[TR_Job_Changed]    Script Date: 21.11.2026 10:12:34 ******/
CREATE TRIGGER [queue].[TR_Job_Changed] ON [queue].[Job]
WITH EXECUTE AS OWNER
AFTER INSERT, UPDATE
NOT FOR REPLICATION
AS
BEGIN
	SET NOCOUNT ON;
	UPDATE [dbo].[Owner] SET [Name] = N'x' FROM inserted WHERE inserted.[JobId] = [Owner].[Id]
END
GO
ALTER TABLE [queue].[Job] ENABLE TRIGGER [TR_Job_Changed]
GO
CREATE TRIGGER [queue].[TR_Job_Old] ON [queue].[Job] FOR DELETE AS DELETE FROM [dbo].[Owner]
GO
ALTER TABLE [queue].[Job] DISABLE TRIGGER [TR_Job_Old]
GO
/****** Object:  View [dbo].[Waiting]    Script Date: 21.11.2026 10:12:34 ******/
CREATE VIEW [dbo].[Waiting]
WITH SCHEMABINDING
AS
SELECT TOP (100) PERCENT j.JobId, j.[State], Owner = o.[Name], COUNT_BIG(*) AS n
FROM [queue].[Job] AS j WITH (NOLOCK) INNER JOIN [dbo].[Owner] o ON o.Id = j.Attempts
GROUP BY j.JobId
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'qgen:status ready=N running=A done=C failed=E' , @level0type=N'SCHEMA',@level0name=N'queue', @level1type=N'TABLE',@level1name=N'Job', @level2type=N'COLUMN',@level2name=N'State'
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'jobs; qgen:queue shop' , @level0type=N'SCHEMA',@level0name=N'queue', @level1type=N'TABLE',@level1name=N'Job'
GO
EXEC sys.sp_addextendedproperty @name=N'MS_DiagramPane1', @value=N'[0E232FF0-B466-11cf-A24F-00AA00A3EFFF, 1.00]
Begin DesignProperties = 
' , @level0type=N'SCHEMA',@level0name=N'dbo', @level1type=N'VIEW',@level1name=N'Waiting'
GO
USE [master]
GO
ALTER DATABASE [Shop] SET  READ_WRITE 
GO
