-- FILE limit
SELECT id FROM dbo.jobs WHERE state = 0 ORDER BY id LIMIT 1;
-- FILE limit in parentheses
SELECT id FROM dbo.jobs WHERE state = 0 ORDER BY id LIMIT (1);
-- FILE for update skip locked
SELECT TOP (1) id FROM dbo.jobs ORDER BY id FOR UPDATE SKIP LOCKED
-- FILE for update
SELECT TOP (1) id FROM dbo.jobs ORDER BY id FOR UPDATE
-- FILE hint
SELECT TOP (1) id FROM dbo.jobs WITH (UPDLOCK, READPST) ORDER BY id
-- FILE hint of a target
UPDATE dbo.jobs WITH (ROWLOCKS) SET a = 1
-- FILE hint in a body
CREATE PROCEDURE p AS SELECT 1; DELETE FROM jobs WITH (NOTHING)
-- FILE output behind where
UPDATE dbo.jobs SET state = 1 WHERE id = 1 OUTPUT inserted.id
-- FILE returning
UPDATE dbo.jobs SET state = 1 WHERE id = 1 RETURNING id
-- FILE order of an update
UPDATE dbo.jobs SET state = 1 WHERE id = 1 ORDER BY id
-- FILE parenthesis of a CTE
WITH c AS (SELECT TOP (1) id FROM jobs ORDER BY id UPDATE c SET state = 1
-- FILE order of a CTE
WITH c AS (SELECT id FROM jobs ORDER BY id) UPDATE c SET state = 1
-- FILE CTE alone
WITH c AS (SELECT 1 AS a)
-- FILE order of a delete
DELETE TOP (1) FROM dbo.jobs OUTPUT deleted.id WHERE state = 0 ORDER BY id
-- FILE two statements
DECLARE @x int = 1 SELECT @x
-- FILE CTE without a semicolon
DECLARE @x int = 1
SELECT 1 AS a
WITH c AS (SELECT TOP (1) id FROM jobs ORDER BY id) UPDATE c SET state = 1;
-- FILE second statement
SELECT 1; UPDATE t SET; SELECT 2
-- FILE third table
SELECT 1;
SELECT 2 FROM t a b
-- FILE assignment missing
UPDATE jobs SET WHERE id = @p1
-- FILE list missing
SELECT FROM jobs
-- FILE list ends
SELECT id, FROM jobs
-- FILE text
SELECT 'open FROM jobs
-- FILE name
SELECT [open FROM jobs
-- FILE comment
SELECT 1 /* open
-- FILE nested comment
SELECT 1 /* open /* nested */
-- FILE parenthesis
SELECT (1
-- FILE parenthesis closed
SELECT 1) FROM t
-- FILE case
SELECT CASE WHEN a = 1 THEN 2 FROM t
-- FILE block
BEGIN UPDATE t SET a = 1
-- FILE end
END
-- FILE word
garbage
-- FILE call
garbage here (
-- FILE grant
GRANT SELECT ON t TO u
-- FILE view
CREATE VIEW v AS SELECT 1 AS a
-- FILE rows missing
INSERT INTO t (a) VALUES
-- FILE from missing
UPDATE t SET a = 1 FROM
-- FILE join
SELECT a FROM t JOIN u
-- FILE join and where
SELECT a FROM t JOIN u WHERE a = 1
-- FILE join in parentheses
SELECT a FROM (t JOIN u) WHERE a = 1
-- FILE query without a name
SELECT a FROM (SELECT 1 AS a)
-- FILE rows without a name
UPDATE t SET a = 1 FROM t JOIN (VALUES (1)) ON a = 1
-- FILE rows of a merge
MERGE t USING (VALUES (1, )) AS s (a, b) ON t.a = s.a WHEN MATCHED THEN DELETE;
-- FILE merge without a semicolon
MERGE t USING s ON t.a = s.a WHEN MATCHED THEN DELETE
-- FILE hint of a merge
MERGE t WITH (HOLDLOK) USING s ON t.a = s.a WHEN MATCHED THEN DELETE;
-- FILE nulls last
SELECT a FROM t ORDER BY a NULLS LAST
-- FILE now
SELECT now()
-- FILE cast
SELECT a::int FROM t
-- FILE placeholder
SELECT $1 FROM t WHERE a = ?
-- FILE backticks
SELECT `a` FROM t
-- FILE true
SELECT a FROM t WHERE b IS TRUE
-- FILE isolation
SET TRANSACTION ISOLATION LEVEL READ COMITTED
-- FILE table
CREATE TABLE t (id bigint,, x int)
-- FILE table without an end
CREATE TABLE t (id bigint
-- FILE table with a typo
CREATE TABLE t (id bigint primry KEY)
-- FILE index
CREATE INDEX i ON t (a,)
-- FILE index with more
CREATE INDEX i ON t (a) GARBAGE
-- FILE index without a name
CREATE INDEX ON t (a)
-- FILE add
ALTER TABLE t ADD
-- FILE constraint
ALTER TABLE t ADD CONSTRAINT c CHEK (x)
-- FILE table under if
IF @a = 1 CREATE TABLE t (id int GARBAGE)
-- FILE comma
SELECT a, , b FROM t
-- FILE comma first
SELECT f(, a) FROM t
-- FILE comma last
SELECT a, b,
-- FILE no isolation
SET TRANSACTION ISOLATION LEVEL
-- FILE comma in a table
DECLARE @t TABLE (id int,)
-- FILE body
CREATE PROCEDURE p AS bare 1 SELECT 2
-- FILE body of a block
CREATE PROCEDURE p @n int = 5 WITH EXECUTE AS OWNER AS BEGIN
  SET NOCOUNT ON;
  UPDATE t SET a = 1 LIMIT 5;
END
-- FILE behind a block
CREATE PROC p AS BEGIN SELECT 1; END SELECT 2
-- FILE random
SELECT dbo.now(), random()
-- FILE ilike
SELECT a FROM t WHERE a ILIKE 'x'
-- FILE rows of a merge with a typo
MERGE t USING (VALUES (1 2)) AS s (a, b) ON t.a = s.a WHEN MATCHED THEN DELETE;
-- FILE no body
CREATE PROCEDURE p AS
-- FILE no as
CREATE PROCEDURE p
