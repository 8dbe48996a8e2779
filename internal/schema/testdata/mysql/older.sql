-- A script that takes away older tables first.
ALTER TABLE parts DROP FOREIGN KEY fk_parts;
DROP TABLE IF EXISTS jobs, parts;
CREATE TABLE jobs (id INT NOT NULL PRIMARY KEY);
CREATE TABLE parts (id INT NOT NULL PRIMARY KEY);
