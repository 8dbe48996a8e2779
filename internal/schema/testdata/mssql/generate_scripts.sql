-- What "Generate Scripts" and mssql-scripter write when they are asked to look first.
IF NOT EXISTS (SELECT * FROM sys.schemas WHERE name = N'queue')
EXEC sys.sp_executesql N'CREATE SCHEMA [queue]'
GO
IF NOT EXISTS (SELECT * FROM sys.types st JOIN sys.schemas ss ON st.schema_id = ss.schema_id WHERE st.name = N'Mail' AND ss.name = N'dbo')
CREATE TYPE [dbo].[Mail] FROM [nvarchar](320) NOT NULL
GO
SET ANSI_NULLS ON
SET QUOTED_IDENTIFIER ON
-- qgen:queue mails
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[queue].[Mails]') AND type in (N'U'))
BEGIN
CREATE TABLE [queue].[Mails](
	[Id] [bigint] IDENTITY NOT NULL,
	[To] [dbo].[Mail] NOT NULL, -- qgen:payload
	[Cc] [Mail] NULL,
	[State] [int] NOT NULL,
 CONSTRAINT [PK_Mails] PRIMARY KEY CLUSTERED 
(
	[Id] ASC
)WITH (PAD_INDEX = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY]
END
GO
IF NOT EXISTS (SELECT * FROM sys.indexes WHERE object_id = OBJECT_ID(N'[queue].[Mails]') AND name = N'IX_Mails_State')
CREATE NONCLUSTERED INDEX [IX_Mails_State] ON [queue].[Mails]
(
	[State] ASC
)WITH (PAD_INDEX = OFF) ON [PRIMARY]
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[queue].[DF_Mails_State]') AND type = 'D')
BEGIN
ALTER TABLE [queue].[Mails] ADD  CONSTRAINT [DF_Mails_State]  DEFAULT ((0)) FOR [State]
END
GO
IF NOT EXISTS (SELECT * FROM sys.check_constraints WHERE object_id = OBJECT_ID(N'[queue].[CK_Mails]') AND parent_object_id = OBJECT_ID(N'[queue].[Mails]'))
ALTER TABLE [queue].[Mails]  WITH CHECK ADD  CONSTRAINT [CK_Mails] CHECK  (([State]>=(0) AND [State]<=(5)))
GO
IF  EXISTS (SELECT * FROM sys.check_constraints WHERE object_id = OBJECT_ID(N'[queue].[CK_Mails]') AND parent_object_id = OBJECT_ID(N'[queue].[Mails]'))
ALTER TABLE [queue].[Mails] CHECK CONSTRAINT [CK_Mails]
GO
IF NOT EXISTS (SELECT * FROM sys.triggers WHERE object_id = OBJECT_ID(N'[queue].[TR_Mails]'))
EXEC dbo.sp_executesql @statement = N'CREATE TRIGGER [queue].[TR_Mails] ON [queue].[Mails]
INSTEAD OF DELETE
AS
BEGIN
	RAISERROR(''It''''s kept.'', 16, 1);
END
' 
GO
IF NOT EXISTS (SELECT * FROM sys.views WHERE object_id = OBJECT_ID(N'[queue].[V]'))
EXEC dbo.sp_executesql @statement = N'CREATE VIEW [queue].[V] AS SELECT 1 AS one'
GO
IF OBJECT_ID('dbo.Other', 'U') IS NULL CREATE TABLE dbo.Other (id int NOT NULL PRIMARY KEY) ELSE PRINT 'there'
IF OBJECT_ID('dbo.Other', 'U') IS NULL
    CREATE TABLE dbo.OTHER (never int)
IF COL_LENGTH('dbo.Other', 'more') IS NULL
BEGIN
    ALTER TABLE dbo.Other ADD more int NULL -- qgen:seq
END
IF COL_LENGTH('dbo.Other', 'more') IS NULL ALTER TABLE dbo.Other ADD More bigint
IF COL_LENGTH('dbo.Other', 'gone') IS NOT NULL ALTER TABLE dbo.Other DROP COLUMN gone
WHILE 1 = 0 BEGIN IF 1 = 1 CREATE TABLE dbo.inner_one (id int) ELSE BEGIN CREATE TABLE dbo.inner_two (id int) END END
DROP TABLE IF EXISTS dbo.nothing
DECLARE @sql nvarchar(max) = N'CREATE TABLE dbo.guessed (id int)'
EXEC (@sql)
EXEC ('CREATE TABLE dbo.guessed2 (id int)')
EXEC sp_executesql @stmt = @sql
IF NOT EXISTS (SELECT 1 FROM sys.extended_properties WHERE name = 'qgen')
    EXEC sp_addextendedproperty @name = 'qgen', @value = 'status ready=0 running=1', @level0type = 'USER', @level0name = 'queue',
        @level1type = 'table', @level1name = 'mails', @level2type = 'column', @level2name = 'state'
GO
