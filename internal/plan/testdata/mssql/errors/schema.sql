CREATE TABLE dbo.instead (
    id     int IDENTITY PRIMARY KEY,
    status char(1) NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=C
)
GO
CREATE TRIGGER dbo.instead_update ON dbo.instead INSTEAD OF UPDATE, DELETE AS RETURN
GO
CREATE TABLE dbo.hot (
    id     int IDENTITY PRIMARY KEY NONCLUSTERED,
    status char(1) NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=C
) WITH (MEMORY_OPTIMIZED = ON)
GO
CREATE TABLE dbo.wide (
    id     int IDENTITY,
    status char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C
    INDEX wide_columns CLUSTERED COLUMNSTORE
)
GO
CREATE TABLE dbo.plain (
    id     int IDENTITY PRIMARY KEY,
    status char(1) NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=C
)
GO
CREATE TABLE dbo.nameless (
    status char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C
    data   nvarchar(100)
)
GO
GO
CREATE TABLE made (
  id bigint NOT NULL,
  state varchar(10) NOT NULL -- qgen:status ready=new running=busy done=done
)
DECLARE @sql nvarchar(max)
SET @sql = N'ALTER TABLE ' + N'made' + N' ADD CONSTRAINT pk_' + CAST(@@SPID AS nvarchar) + N' PRIMARY KEY (id)'
EXEC (@sql)
GO
CREATE TABLE orders (id int NOT NULL PRIMARY KEY)
CREATE TABLE reservations (order_id int NOT NULL PRIMARY KEY, holder int, since int NOT NULL)
GO
CREATE TRIGGER reservations_added ON reservations AFTER INSERT AS BEGIN SET NOCOUNT ON; END
GO
CREATE TABLE untyped ( -- qgen:queue untyped
    id    int NOT NULL PRIMARY KEY,
    state varchar(9) NOT NULL, -- qgen:status ready=new running=busy done=done
    kind  ntext NOT NULL       -- qgen:topic
)
GO
