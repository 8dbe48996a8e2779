CREATE TABLE skipped (id INT,, name TEXT);
-- qgen:queue bad
CREATE TABLE bad (id INT, name TEXT NOT);
CREATE TABLE good (id INT); -- qgen:queue good
ALTER TABLE Good ADD COLUMN;
ALTER TABLE unknown ADD COLUMN;
ALTER TABLE later ADD COLUMN x INT;
CREATE TABLE later (id INT);
CREATE TABLE GOOD (id INT, x TEXT);
CREATE TABLE two_names (id INT, "ID" TEXT);
ALTER TABLE good ADD COLUMN Id INT;
CREATE TABLE no_such (id INT, PRIMARY KEY (other));
CREATE TEMPORARY TABLE brief (id INT); -- qgen:queue brief
CREATE VIRTUAL TABLE full USING fts5(body); -- qgen:queue full
CREATE TABLE made AS VALUES (1); -- qgen:queue made
CREATE TEMP VIEW peek AS SELECT 1; -- qgen:queue peek
CREATE VIEW later AS SELECT 1;
CREATE TRIGGER never_ends AFTER INSERT ON good BEGIN SELECT 1;
CREATE TABLE still_read (id INT); -- qgen:id
CREATE TABLE open_end (id INT, -- qgen:id
    name TEXT DEFAULT 'never closed
