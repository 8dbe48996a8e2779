-- FILE limit
SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT 1
-- FILE limit n
SELECT id FROM jobs WHERE state = 0 LIMIT :n
-- FILE skip lock
SELECT id FROM jobs WHERE state = 0 ORDER BY id FOR UPDATE SKIP LOCK
-- FILE of nothing
SELECT id FROM jobs FOR UPDATE OF SKIP LOCKED NOWAIT
-- FILE for share
SELECT id FROM jobs FOR SHARE
-- FILE fetch first for update
SELECT id FROM jobs WHERE state = 0 ORDER BY id FETCH FIRST 10 ROWS ONLY FOR UPDATE SKIP LOCKED
-- FILE rownum over a query for update
SELECT * FROM (SELECT id FROM jobs ORDER BY id) WHERE ROWNUM <= 10 FOR UPDATE SKIP LOCKED
-- FILE rownum in a query for update
SELECT * FROM (SELECT id FROM jobs WHERE ROWNUM <= 10) FOR UPDATE
-- FILE distinct for update
SELECT DISTINCT kind FROM jobs FOR UPDATE
-- FILE group for update
SELECT kind FROM jobs GROUP BY kind FOR UPDATE
-- FILE aggregate for update
SELECT MIN(id) FROM jobs FOR UPDATE SKIP LOCKED
-- FILE union for update
SELECT id FROM jobs UNION ALL SELECT id FROM old_jobs FOR UPDATE
-- FILE join of a view for update
SELECT j.id FROM jobs j JOIN (SELECT DISTINCT gid FROM groups) g ON g.gid = j.gid FOR UPDATE
-- FILE lock in a subquery
SELECT id FROM jobs WHERE id IN (SELECT id FROM jobs WHERE ROWNUM <= 5 FOR UPDATE SKIP LOCKED)
-- FILE update limit
UPDATE jobs SET state = 1 WHERE state = 0 ORDER BY id FETCH FIRST 1 ROWS ONLY
-- FILE update from
UPDATE jobs SET state = 1 FROM c WHERE c.id = jobs.id
-- FILE update nothing
UPDATE jobs SET WHERE id = :1
-- FILE cte update
WITH c AS (SELECT id FROM jobs WHERE state = 0) UPDATE jobs SET state = 1 WHERE id IN (SELECT id FROM c)
-- FILE returning without into
UPDATE jobs SET state = 1 WHERE id = :id RETURNING id
-- FILE returning into a name
UPDATE jobs SET state = 1 WHERE id = :id RETURNING id INTO x
-- FILE returning too few
UPDATE jobs SET state = 1 WHERE id = :id RETURNING id, state INTO :a
-- FILE returning bulk outside of a block
UPDATE jobs SET state = 1 RETURNING id BULK COLLECT INTO :ids
-- FILE returning bulk without into
BEGIN
  UPDATE jobs SET state = 1 WHERE id = 1 RETURNING id BULK COLLECT ids;
END;
-- FILE insert select returning
INSERT INTO jobs (id) SELECT 1 FROM dual RETURNING id INTO :id
-- FILE insert
INSERT jobs (id) VALUES (1)
-- FILE insert without values
INSERT INTO jobs (id) (1)
-- FILE insert on conflict
INSERT INTO jobs (id) VALUES (1) ON CONFLICT DO NOTHING
-- FILE merge without when
MERGE INTO jobs t USING dual ON (t.id = 1)
-- FILE merge twice
MERGE INTO jobs t USING dual ON (1 = 1) WHEN MATCHED THEN UPDATE SET t.a = 1 WHEN MATCHED THEN UPDATE SET t.b = 1
-- FILE merge without parentheses
MERGE INTO jobs t USING dual ON t.id = 1 WHEN MATCHED THEN UPDATE SET t.a = 1
-- FILE no end
BEGIN
  UPDATE jobs SET state = 1;
-- FILE no end if
BEGIN
  IF 1 = 1 THEN
    UPDATE jobs SET state = 1;
END;
/
-- FILE no end loop
BEGIN
  LOOP
    EXIT;
END;
-- FILE no end case
BEGIN
  CASE x WHEN 1 THEN NULL; END;
END;
-- FILE no semicolon behind end
BEGIN
  NULL;
END
-- FILE no semicolon
BEGIN
  UPDATE jobs SET state = 1
END;
-- FILE no semicolon in a declaration
DECLARE
  n NUMBER
BEGIN
  NULL;
END;
-- FILE two semicolons
BEGIN NULL; END;;
-- FILE empty block
BEGIN
END;
-- FILE empty then
BEGIN IF a THEN ELSE NULL; END IF; END;
-- FILE no then
BEGIN IF a NULL; END IF; END;
-- FILE no loop
BEGIN WHILE a NULL; END LOOP; END;
-- FILE else if
BEGIN IF a THEN NULL; ELSEIF b THEN NULL; END IF; END;
-- FILE fetch first
DECLARE
  CURSOR c IS SELECT id FROM jobs FOR UPDATE SKIP LOCKED;
BEGIN
  FETCH c BULK COLLECT INTO ids FIRST 10;
END;
-- FILE bulk collect without into
BEGIN FETCH c BULK COLLECT ids LIMIT 5; END;
-- FILE select without into
BEGIN SELECT id FROM jobs; END;
-- FILE select into outside of a block
SELECT id INTO x FROM jobs
-- FILE bulk without into
BEGIN SELECT id BULK COLLECT FROM jobs; END;
-- FILE forall with a call
BEGIN FORALL i IN 1 .. 5 log_it(i); END;
-- FILE forall without range
BEGIN FORALL i IN ids DELETE FROM jobs WHERE id = ids(i); END;
-- FILE one dot
BEGIN FORALL i IN 1 . 5 DELETE FROM jobs; END;
-- FILE assignment
BEGIN x = 1; END;
-- FILE assignment with a blank
BEGIN x : = 1; END;
-- FILE name alone
BEGIN x y; END;
-- FILE bind alone
BEGIN :x; END;
-- FILE attribute
BEGIN x := SQL%ROWS; END;
-- FILE cursor
DECLARE CURSOR c AS SELECT 1 FROM dual; BEGIN NULL; END;
-- FILE type
DECLARE TYPE t IS LIST OF NUMBER; BEGIN NULL; END;
-- FILE rowtype
DECLARE r jobs%ROW; BEGIN NULL; END;
-- FILE wrong name behind end
CREATE OR REPLACE PROCEDURE p IS BEGIN NULL; END q;
-- FILE wrong label
BEGIN <<a>> LOOP EXIT; END LOOP b; END;
-- FILE package without is
CREATE PACKAGE p BEGIN NULL; END p;
-- FILE package authid
CREATE PACKAGE p AUTHID NOBODY IS END p;
-- FILE statement behind a block
BEGIN NULL; END;
SELECT 1 FROM dual
-- FILE two statements
SELECT 1 FROM dual SELECT 2 FROM dual
-- FILE two statements on two lines
SELECT 1 FROM jobs
CREATE INDEX i ON jobs (id)
-- FILE open parenthesis
SELECT (1 FROM dual
-- FILE closed parenthesis
SELECT 1) FROM dual
-- FILE no from
SELECT FROM jobs
-- FILE comma
SELECT id, FROM jobs
-- FILE question mark
SELECT id FROM jobs WHERE id = ?
-- FILE dollar bind
SELECT id FROM jobs WHERE id = $1
-- FILE at bind
SELECT id FROM jobs WHERE id = @p1
-- FILE bind with a blank
SELECT id FROM jobs WHERE id = : id
-- FILE bind of a reserved word
SELECT id FROM jobs WHERE id = :number
-- FILE bind with letters behind digits
SELECT id FROM jobs WHERE id = :1a
-- FILE quoted bind
SELECT id FROM jobs WHERE id = :"id"
-- FILE bind in a definition
CREATE INDEX i ON jobs (NVL(a, :1))
-- FILE bind in a view
CREATE VIEW v AS SELECT 1 FROM jobs WHERE id = :1
-- FILE index without columns
CREATE INDEX i ON jobs
-- FILE index where
CREATE INDEX i ON jobs (id) WHERE state = 'N'
-- FILE index include
CREATE INDEX CONCURRENTLY i ON jobs (id)
-- FILE typo in a table
CREATE TABLE t (id NUMBER primry KEY)
-- FILE create something
CREATE EXTENSION x
-- FILE drop something
DROP EXTENSION x
-- FILE alter something
ALTER SYSTEM FLUSH SHARED_POOL
-- FILE garbage
garbage
-- FILE as in from
SELECT 1 FROM jobs AS j
-- FILE reserved name
SELECT 1 FROM jobs WHERE level.x = 1 AND start = 2
-- FILE name with an underscore
SELECT _id FROM jobs
-- FILE empty name
SELECT "" FROM jobs
-- FILE number
SELECT 1abc FROM dual
-- FILE hexadecimal
SELECT 0x1F FROM dual
-- FILE not
SELECT 1 FROM jobs WHERE id NOT = 1
-- FILE in without parentheses
SELECT 1 FROM jobs WHERE id IN 1, 2
-- FILE between
SELECT 1 FROM jobs WHERE id BETWEEN 1 OR 2
-- FILE is
SELECT 1 FROM jobs WHERE id IS 5
-- FILE double colon
SELECT id::NUMBER FROM jobs
-- FILE double equals
SELECT 1 FROM jobs WHERE id == 1
-- FILE interval
SELECT NOW() + INTERVAL 5 SECOND FROM dual
-- FILE interval unit
SELECT INTERVAL '5' FORTNIGHT FROM dual
-- FILE extract
SELECT EXTRACT(EPOCH FROM a) FROM dual
-- FILE case
SELECT CASE WHEN a THEN 1 FROM dual
-- FILE cast
SELECT CAST(a NUMBER) FROM dual
-- FILE over
SELECT ROW_NUMBER() OVER (ORDER a) FROM dual
-- FILE frame
SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN 1 AND 2) FROM dual
-- FILE keep
SELECT MAX(a) KEEP (DENSE_RANK BEST ORDER BY a) FROM dual
-- FILE nulls
SELECT a FROM jobs ORDER BY a NULLS LOW
-- FILE fetch
SELECT a FROM jobs FETCH 5 ROWS ONLY
-- FILE offset
SELECT a FROM jobs OFFSET 5
-- FILE multiset
SELECT a MULTISET JOIN b FROM dual
-- FILE json operation
SELECT JSON_TRANSFORM(a, PUT '$.b' = 1) FROM dual
-- FILE json path
SELECT JSON_VALUE(a, b) FROM dual
-- FILE join without on
SELECT 1 FROM a JOIN b
-- FILE lock mode
LOCK TABLE jobs IN SLEEP MODE
-- FILE isolation
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
-- FILE savepoint
SAVEPOINT 5
-- FILE open text
SELECT 'open FROM dual
-- FILE open alternative text
SELECT q'[open' FROM dual
-- FILE open comment
SELECT 1 /* open
-- FILE lone slash
SELECT 4
/
2 FROM dual
