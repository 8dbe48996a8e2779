CREATE TABLE skipped (id INT,, name TEXT);
-- qgen:queue bad
CREATE TABLE bad (id INT, name TEXT NOT);
CREATE TABLE good (id INT); -- qgen:queue good
ALTER TABLE Good ADD COLUMN;
ALTER TABLE unknown ADD COLUMN;
ALTER TABLE later ADD COLUMN x INT;
CREATE TABLE later (id INT);
CREATE TABLE good (id INT, x TEXT);
CREATE TABLE two_names (id INT, `ID` TEXT);
ALTER TABLE good ADD COLUMN Id INT;
CREATE TABLE no_such (id INT, PRIMARY KEY (other)); -- qgen:queue no_such
CREATE TEMPORARY TABLE brief (id INT); -- qgen:queue brief
CREATE TABLE made AS VALUES ROW(1); -- qgen:queue made
CREATE TABLE made2 (id INT) SELECT 1 + 1; -- qgen:queue made2
CREATE VIEW later AS SELECT 1;
CREATE TABLE orphan LIKE nowhere; -- qgen:queue orphan
CREATE TABLE typo (id INT primry KEY); -- qgen:queue typo
CREATE TABLE typo2 (id INT PRIMARY, n INT); -- qgen:queue typo2
CREATE TABLE typo3 (id PRIMARY KEY); -- qgen:queue typo3
CREATE TABLE typo4 (id INT); -- qgen:queue typo4
ALTER TABLE typo4 ADD CONSTRAINT c CHEK (id > 1);
ALTER TABLE typo4 MODIFY COLUMN nothing INT, DROP COLUMN neither, RENAME COLUMN no TO yes, ALTER COLUMN none SET DEFAULT 1, ADD x INT AFTER nobody;
ALTER TABLE typo4 DROP COLUMN IF EXISTS neither, RENAME INDEX none TO some, ALTER INDEX none INVISIBLE;
CREATE INDEX ON typo4 (id);
CREATE INDEX i ON typo4 (id,);
CREATE INDEX i ON typo4 (nothing);
CREATE INDEX i ON typo4 (id) NONSENSE;
CREATE INDEX i ON nowhere (id) NONSENSE;
CREATE TABLE typo5 (id INT) NONSENSE=; -- qgen:queue typo5
CREATE TABLE typo6 (id ENUM('a' 'b', c)); -- qgen:queue typo6
CREATE TABLE typo7 (id ENUM); -- qgen:queue typo7
CREATE TABLE typo8 (id INT DEFAULT, n INT COMMENT x); -- qgen:queue typo8
CREATE TABLE typo9 (id INT COLLATE); -- qgen:queue typo9
CREATE TABLE typo10 (id INT, FOREIGN KEY (id) nowhere (id)); -- qgen:queue typo10
CREATE TABLE typo11 (id INT COMMENT x'6162'); -- qgen:queue typo11
CREATE TABLE typo12 (id INT)) COMMENT=''; -- qgen:queue typo12
CREATE TABLE typo13 (id INT, KEY k (id) (id)); -- qgen:queue typo13
CREATE TABLE '' (id INT); -- qgen:queue typo14
CREATE TABLE typo15 (id INT, PRIMARY (id)); -- qgen:queue typo15
CREATE TABLE typo16 (id INT CHECK id > 0); -- qgen:queue typo16
CREATE TABLE typo17 (id INT) PARTITION BY NONSENSE (id); -- qgen:queue typo17
CREATE TABLE typo18 (id INT UNIQUE CONSTRAINT, CONSTRAINT x id); -- qgen:queue typo18
CREATE TABLE typo19 (LIKE good; -- qgen:queue typo19
CREATE TABLE ünïcode (id INT,, x INT);
ALTER TABLE good RENAME TO; ALTER TABLE good ADD (x INT, y INT;
CREATE TRIGGER never_ends AFTER INSERT ON good FOR EACH ROW BEGIN SELECT 1;
CREATE TABLE still_read (id INT); -- qgen:id
DELIMITER //
CREATE TABLE behind_delimiter (id INT) -- qgen:id
//
DELIMITER ;
CREATE TABLE twice (a INT, b INT);
ALTER TABLE twice CHANGE a B INT;
CREATE TABLE open_end (id INT, -- qgen:id
    name TEXT DEFAULT 'never closed
