-- A script that takes away an older table first, as Quartz.NET's does.
USE [enter_db_name_here];
GO
IF EXISTS (SELECT * FROM sys.foreign_keys WHERE object_id = OBJECT_ID(N'[dbo].[FK_JOBS]') AND parent_object_id = OBJECT_ID(N'[dbo].[JOBS]'))
ALTER TABLE [dbo].[JOBS] DROP CONSTRAINT FK_JOBS;
GO
DECLARE @DropDb BIT = 1;
IF @DropDb = 1
BEGIN
    DROP INDEX IF EXISTS [IDX_JOBS] ON [dbo].[JOBS];
    IF OBJECT_ID(N'[dbo].[FK_JOBS]', N'F') IS NOT NULL
    ALTER TABLE [dbo].[JOBS] DROP CONSTRAINT [FK_JOBS];
    IF OBJECT_ID(N'[dbo].[JOBS]', N'U') IS NOT NULL
    DROP TABLE [dbo].[JOBS];
END
IF COL_LENGTH('jobs', 'old') IS NOT NULL EXEC sp_rename 'jobs.old', 'new', 'COLUMN';
ALTER TABLE parts DROP CONSTRAINT fk_parts
DROP TABLE dbo.parts
GO
CREATE TABLE [dbo].[JOBS] ([id] int NOT NULL PRIMARY KEY);
CREATE TABLE [dbo].[PARTS] ([id] int NOT NULL PRIMARY KEY);
