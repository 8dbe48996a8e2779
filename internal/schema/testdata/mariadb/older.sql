-- A script that takes away older tables first.
ALTER TABLE IF EXISTS jobs DROP FOREIGN KEY fk_jobs;
ALTER TABLE parts DROP FOREIGN KEY fk_parts;
DROP TABLE IF EXISTS jobs, parts;
CREATE TABLE jobs (id INT NOT NULL PRIMARY KEY);
CREATE TABLE parts (id INT NOT NULL PRIMARY KEY);
