-- A script that takes away an older table first.
ALTER TABLE parts DROP COLUMN job;
DROP TABLE IF EXISTS parts;
CREATE TABLE parts (id integer PRIMARY KEY);
