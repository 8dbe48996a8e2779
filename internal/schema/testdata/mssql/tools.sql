-- FILE ef_core.sql
IF OBJECT_ID(N'[__EFMigrationsHistory]') IS NULL
BEGIN
    CREATE TABLE [__EFMigrationsHistory] (
        [MigrationId] nvarchar(150) NOT NULL,
        CONSTRAINT [PK___EFMigrationsHistory] PRIMARY KEY ([MigrationId])
    );
END;
GO

BEGIN TRANSACTION;
GO

IF NOT EXISTS (
    SELECT * FROM [__EFMigrationsHistory]
    WHERE [MigrationId] = N'20260101000000_Jobs'
)
BEGIN
    CREATE TABLE [Jobs] (
        [Id] bigint NOT NULL IDENTITY,
        [State] nvarchar(1) NOT NULL DEFAULT N'N',
        [Kind] nvarchar(450) NULL,
        [RowVersion] rowversion NULL,
        [PeriodEnd] datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL,
        [PeriodStart] datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL,
        CONSTRAINT [PK_Jobs] PRIMARY KEY ([Id]),
        CONSTRAINT [CK_State] CHECK (State IN ('N', 'A')),
        CONSTRAINT [FK_Jobs_Jobs] FOREIGN KEY ([Id]) REFERENCES [Jobs] ([Id]) ON DELETE CASCADE,
        PERIOD FOR SYSTEM_TIME([PeriodStart], [PeriodEnd])
    );
END;
GO

CREATE UNIQUE INDEX [IX_Jobs_Kind] ON [Jobs] ([Kind]) WHERE [Kind] IS NOT NULL;
GO

DECLARE @var0 sysname;
SELECT @var0 = [d].[name]
FROM [sys].[default_constraints] [d]
INNER JOIN [sys].[columns] [c] ON [d].[parent_column_id] = [c].[column_id] AND [d].[parent_object_id] = [c].[object_id]
WHERE ([d].[parent_object_id] = OBJECT_ID(N'[Jobs]') AND [c].[name] = N'Kind');
IF @var0 IS NOT NULL EXEC(N'ALTER TABLE [Jobs] DROP CONSTRAINT [' + @var0 + '];');
ALTER TABLE [Jobs] ALTER COLUMN [Kind] nvarchar(20) NOT NULL;
ALTER TABLE [Jobs] ADD DEFAULT N'' FOR [Kind];
GO

EXEC sp_rename N'[Jobs].[Kind]', N'Topic', N'COLUMN';
GO

EXEC sp_rename N'[Jobs].[IX_Jobs_Kind]', N'IX_Jobs_Topic', N'INDEX';
GO

INSERT INTO [__EFMigrationsHistory] ([MigrationId])
VALUES (N'20260101000000_Jobs');
GO

COMMIT;
GO
-- FILE V1.1__flyway.sql
CREATE TABLE ${schema}.not_known (id int);
CREATE TABLE dbo.flyway_jobs (
    id INT IDENTITY(1, 1) NOT NULL,
    state VARCHAR(10) CONSTRAINT DF_flyway_state DEFAULT 'new' NOT NULL, -- qgen:status ready=new
    CONSTRAINT PK_flyway PRIMARY KEY (id)
);
GO
CREATE OR ALTER PROCEDURE dbo.p AS
BEGIN
    SELECT 1;
    CREATE TABLE #x (id INT);
END
GO
CREATE NONCLUSTERED INDEX IX_flyway ON dbo.flyway_jobs (state);
GO
-- FILE liquibase.sql
--liquibase formatted sql

--changeset somebody:1 endDelimiter:GO
CREATE TABLE lb_jobs (id int NOT NULL CONSTRAINT PK_lb PRIMARY KEY, at datetime2 CONSTRAINT DF_at DEFAULT GETDATE())
GO
--rollback DROP TABLE lb_jobs
-- FILE dbup.sql
IF NOT EXISTS (SELECT 1 FROM sys.columns WHERE Name = N'due' AND Object_ID = Object_ID(N'dbo.lb_jobs'))
BEGIN
  ALTER TABLE dbo.lb_jobs ADD due datetimeoffset(0) NULL; -- qgen:due
END
GO
-- FILE 0001_tables.up.sql
CREATE TABLE gm_jobs (id int PRIMARY KEY, body varchar(max));
ALTER TABLE gm_jobs ADD state char(1) NOT NULL CONSTRAINT df_gm DEFAULT 'N';
-- FILE 0001_tables.down.sql
DROP TABLE gm_jobs;
