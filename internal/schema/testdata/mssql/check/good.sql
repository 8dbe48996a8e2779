-- FILE claim
WITH [c] AS (SELECT TOP (@p1) [id], [state] FROM [dbo].[jobs] WITH (UPDLOCK, READPAST, ROWLOCK, READCOMMITTEDLOCK) WHERE [state] = 'N' ORDER BY [prio] DESC, [id])
UPDATE [c] SET [state] = 'A', [token] = @p2, [lease] = DATEADD(MICROSECOND, @p3, SYSUTCDATETIME())
OUTPUT inserted.[id], deleted.[state];
-- FILE pop
DELETE TOP (1) FROM dbo.jobs WITH (ROWLOCK READPAST) OUTPUT deleted.id INTO @gone (id) WHERE state = 'N'
-- FILE claim with a trigger
SET NOCOUNT ON; DECLARE @t TABLE (id bigint NOT NULL PRIMARY KEY);
UPDATE j SET j.state = 'A' OUTPUT inserted.id INTO @t FROM dbo.jobs AS j JOIN (SELECT TOP (5) id FROM dbo.jobs WITH (UPDLOCK, INDEX(ix), INDEX = iy, FORCESEEK) ORDER BY id) AS p ON p.id = j.id;
SELECT id FROM @t
-- FILE merge rows
MERGE INTO dbo.jobs WITH (HOLDLOCK) AS t USING (VALUES (@id, @body), (1, NULL)) AS s (id, body) ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.body = s.body WHEN NOT MATCHED THEN INSERT (id, body) VALUES (s.id, s.body) OUTPUT $action, inserted.id;
-- FILE merge a CTE
WITH c AS (SELECT TOP (1) id FROM jobs ORDER BY id) MERGE TOP (5) c USING s ON c.id = s.id WHEN MATCHED THEN DELETE;
-- FILE merge a query
MERGE jobs USING (SELECT 1 AS id) s ON jobs.id = s.id WHEN MATCHED THEN DELETE;
-- FILE fifo
WITH r AS (SELECT id, ROW_NUMBER() OVER (PARTITION BY grp ORDER BY id) AS rn FROM jobs), s AS (SELECT id FROM r WHERE rn = 1) UPDATE TOP (@n) s SET state = 1
-- FILE batch of keys
UPDATE j SET j.a = 1 FROM dbo.jobs AS j WITH (ROWLOCK) JOIN OPENJSON(@p1) WITH (id bigint '$') AS k ON k.id = j.id LEFT OUTER HASH JOIN u ON u.i = j.i CROSS JOIN v
-- FILE apply and offset
SELECT a FROM t AS x CROSS APPLY (SELECT TOP (1) b FROM u WHERE u.i = x.i ORDER BY b) AS y OUTER APPLY OPENJSON(x.j) z ORDER BY a OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY
-- FILE expressions
SELECT (SELECT STRING_AGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t FOR JSON PATH), geometry::Point(1, 2, 0), CASE WHEN EXISTS (SELECT 1 FROM t) THEN N'ü' ELSE 'x' END
-- FILE blocks
IF @@TRANCOUNT > 0 BEGIN ROLLBACK TRANSACTION; END; IF @a = 1 UPDATE t SET a = 1; ELSE DELETE FROM t;
-- FILE try
BEGIN TRY BEGIN TRANSACTION; UPDATE t SET a = 1; COMMIT; END TRY BEGIN CATCH IF @@TRANCOUNT > 0 ROLLBACK; THROW; END CATCH
-- FILE procedure
CREATE OR ALTER PROCEDURE dbo.take @n int AS BEGIN SET NOCOUNT ON; UPDATE TOP (@n) t WITH (READPAST) SET a = 1; SELECT 1 END
-- FILE tables
CREATE TABLE dbo.jobs_lease ([id] bigint NOT NULL CONSTRAINT [pk] PRIMARY KEY CLUSTERED, at datetime2(7) NOT NULL DEFAULT SYSUTCDATETIME())
GO
CREATE INDEX ready ON dbo.jobs (prio DESC, id) INCLUDE (body) WHERE state = 'N' WITH (ONLINE = ON)
-- FILE changes
ALTER TABLE jobs ADD token uniqueidentifier NULL; DROP INDEX ready ON jobs; CREATE UNIQUE NONCLUSTERED INDEX u ON jobs (token)
-- FILE sessions
EXEC sp_getapplock @Resource = N'q', @LockMode = N'Exclusive', @LockTimeout = 0; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; TRUNCATE TABLE t
-- FILE inserts
INSERT INTO t DEFAULT VALUES; INSERT INTO t WITH (TABLOCK) (a) OUTPUT inserted.id VALUES (@p1), (DEFAULT)
-- FILE query in parentheses
(SELECT 1 AS a UNION ALL SELECT 2)
-- FILE comment
-- nothing but a comment
-- FILE nested comment
/* nor /* here */ */
-- FILE nothing

-- FILE semicolons
;;
