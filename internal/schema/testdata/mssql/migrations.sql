-- FILE V1__jobs.sql
CREATE TABLE dbo.jobs (
    id varchar(36) NOT NULL PRIMARY KEY,
    kind varchar(20) NOT NULL,
    gone nvarchar(max),
    state varchar(9) CONSTRAINT known CHECK (state IN ('a', 'b')),
    n int UNIQUE,
    num int CONSTRAINT df_num DEFAULT 5 CONSTRAINT uq_num UNIQUE CHECK ([NUM] BETWEEN 1 AND 2),
    CONSTRAINT ck_kind CHECK (kind <> state),
    INDEX part (state, n)
)
GO
CREATE INDEX i1 ON jobs (kind, n)
CREATE INDEX i2 ON dbo.jobs (kind DESC)
CREATE UNIQUE INDEX i3 ON jobs (n, kind) WHERE n > 5
CREATE TABLE dropped (id int)
CREATE TABLE dropped2 (id int)
CREATE TABLE app.other (id int)
CREATE TYPE dbo.Word FROM varchar(30)
GO
CREATE TRIGGER t1 ON jobs AFTER INSERT AS SELECT 1
GO
CREATE TRIGGER dbo.t2 ON dbo.jobs AFTER INSERT, DELETE AS SELECT 1
GO
CREATE TRIGGER t3 ON jobs FOR UPDATE AS SELECT 1
GO
CREATE TRIGGER safety ON DATABASE FOR DROP_TABLE AS SELECT 1
GO
-- FILE V2__rename.sql
EXEC sp_rename 'dbo.jobs.KIND', 'the kind', 'COLUMN'
GO
EXEC sp_rename @objname = N'[dbo].[jobs].[i2]', @newname = N'second', @objtype = N'INDEX';
EXEC sp_rename 'i1', 'nothing of ours';
ALTER TABLE jobs DROP COLUMN gone
ALTER TABLE dbo.jobs ADD at datetime2 CONSTRAINT df_at DEFAULT SYSUTCDATETIME() CHECK (at > '2000-01-01'), b bigint NOT NULL DEFAULT (0) WITH VALUES,
    CONSTRAINT ck_b CHECK (b IN (1, 2)), c int
DROP TABLE IF EXISTS dropped, dbo.dropped2, dropped3
DROP INDEX IF EXISTS I3 ON jobs WITH (ONLINE = ON), none ON jobs
DROP TRIGGER IF EXISTS T1, dbo.none
DISABLE TRIGGER t2, t3 ON dbo.jobs
ENABLE TRIGGER T3 ON jobs
ALTER TABLE jobs DISABLE TRIGGER none
GO
EXEC sp_rename 'dbo.jobs', 'Work'
EXEC sp_rename 'dbo.known', 'known_states'
EXECUTE dbo.sp_rename 'uq_num', 'uq_number', 'OBJECT'
EXEC sp_rename 't2', 'second_trigger'
EXEC sp_rename 'df_num', 'df_number'
EXEC @rc = sp_rename @newname = kept, @objname = [df_at]
IF NOT EXISTS (SELECT 1 FROM sys.tables WHERE name = 'Work')
    CREATE TABLE Work (id int)
GO
-- FILE V3__more.sql
ALTER TABLE work ALTER COLUMN B decimal(18, 0) NULL
ALTER TABLE Work ALTER COLUMN state nvarchar(40) COLLATE Latin1_General_BIN NOT NULL -- qgen:status ready=a
ALTER TABLE Work ALTER COLUMN id nvarchar(36)
ALTER TABLE Work ALTER COLUMN c ADD HIDDEN
ALTER TABLE Work ALTER COLUMN num DROP NOT FOR REPLICATION
ALTER TABLE Work ALTER COLUMN c ADD MASKED WITH (FUNCTION = 'default()')
ALTER TABLE Work NOCHECK CONSTRAINT ck_b, ck_kind
ALTER TABLE Work WITH CHECK CHECK CONSTRAINT CK_KIND
ALTER TABLE Work DROP CONSTRAINT df_number, IF EXISTS none, COLUMN IF EXISTS none, n
ALTER TABLE Work DROP kept, CONSTRAINT UQ_NUMBER WITH (ONLINE = ON)
ALTER TABLE Work ADD DEFAULT 'x' FOR [the kind], CONSTRAINT df_c DEFAULT (7) FOR c WITH VALUES
ALTER TABLE Work DROP CONSTRAINT df_c
ALTER TABLE Work ADD PERIOD FOR SYSTEM_TIME (a, b), d date NOT NULL
ALTER TABLE Work DROP PERIOD FOR SYSTEM_TIME
ALTER TABLE Work SWITCH PARTITION 1 TO Other
ALTER TABLE Work REBUILD WITH (DATA_COMPRESSION = PAGE)
ALTER TABLE Work ENABLE CHANGE_TRACKING
ALTER TABLE Work ALTER INDEX part REBUILD WITH (BUCKET_COUNT = 5)
ALTER TABLE Work ADD INDEX added UNIQUE (d), CONSTRAINT pk2 UNIQUE CLUSTERED (d, c)
ALTER TABLE Work WITH NOCHECK ADD CONSTRAINT fk FOREIGN KEY (c) REFERENCES Other (id)
ALTER TABLE Work DROP INDEX added
ALTER SCHEMA archive TRANSFER OBJECT::dbo.Work
ALTER TABLE archive.Work ADD e dbo.Word
ALTER SCHEMA app TRANSFER nothing
DROP INDEX other.none
DROP TYPE Word
ALTER TABLE #work ADD x int
GO
CREATE OR ALTER VIEW dbo.seen (a, b) AS SELECT w.*, o.id FROM (archive.Work w CROSS JOIN app.other AS o) WHERE 1 = 1
GO
CREATE OR ALTER VIEW seen2 AS (SELECT DISTINCT TOP 5 WITH TIES w.id, d 'day', big = w.b, n = 1 + 1, GETDATE() now FROM archive.Work w WITH (NOLOCK))
GO
ALTER VIEW seen2 AS SELECT j.v, o.id, x.id AS other FROM app.other o OUTER APPLY OPENJSON(@x) WITH (v int) j FULL OUTER JOIN other x ON 1 = 1
GO
CREATE VIEW seen3 AS WITH c AS (SELECT 1 AS one) SELECT one FROM c
GO
CREATE VIEW seen4 AS SELECT * FROM other FOR SYSTEM_TIME ALL
GO
CREATE VIEW seen5 AS SELECT id FROM missing PIVOT (MAX(a) FOR b IN ([x])) p
GO
ALTER TRIGGER t3 ON archive.Work INSTEAD OF INSERT AS SELECT 1
GO
DROP VIEW IF EXISTS dbo.seen
GO
-- FILE 4.sql
-- +goose Up
CREATE TABLE marked (id int)
GO
-- +goose Down
DROP TABLE marked
GO
-- FILE 5.sql
CREATE TABLE swap (a int, b varchar(9), c int, INDEX ia (a) WHERE a > 5)
EXEC sp_rename 'swap.a', 'x y', 'COLUMN'
EXEC sp_rename 'swap.b', 'it''s', 'column'
EXEC sp_rename 'swap."it''s"', 'a', 'column'
EXEC sp_rename 'db..swap.a', [A], 'column'
EXEC sp_rename @name, 'x', 'COLUMN'
EXEC sp_rename 'swap.x', @name, 'COLUMN'
EXEC sp_rename 'swap', 'x', 'COLUMN'
EXEC sp_rename
EXEC other 'swap.b', 'c'
EXEC
ALTER TABLE db..swap ADD d int
CREATE INDEX id ON db.dbo.swap (d)
GO
sp_rename 'swap', 'swapped'
