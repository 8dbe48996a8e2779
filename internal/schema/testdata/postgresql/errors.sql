-- A table without annotations may be unreadable.
CREATE TABLE skipped (id int,, name text);
-- qgen:queue bad
CREATE TABLE bad (id int, name text NOT) ;
CREATE TABLE good (id int); -- qgen:queue good
ALTER TABLE good ADD COLUMN CASCADE;
ALTER TABLE unknown ADD COLUMN CASCADE;
ALTER TABLE later ADD COLUMN x int;
CREATE TABLE later (id int);
CREATE TABLE good (id int, x text);
CREATE TABLE two_names (id int, "id" text);
ALTER TABLE good ADD COLUMN id int;
ALTER TABLE good ALTER COLUMN nothing SET NOT NULL;
ALTER TABLE later ALTER COLUMN nothing SET NOT NULL;
CREATE INDEX ON good (nothing);
ALTER TABLE good ADD PRIMARY KEY (id, nothing);
CREATE TABLE orphan (LIKE nowhere); -- qgen:queue orphan
CREATE TABLE heir () INHERITS (nowhere); -- qgen:queue heir
CREATE TABLE shaped OF no_type; -- qgen:queue shaped
CREATE TEMP TABLE brief (id int); -- qgen:queue brief
CREATE MATERIALIZED VIEW still AS SELECT 1; -- qgen:queue still
CREATE TABLE made AS VALUES (1); -- qgen:queue made
CREATE VIEW shown AS SELECT upper(x), * FROM nowhere; -- qgen:queue shown
COMMENT ON TABLE good IS 'qgen:queue' || 'good';
CREATE TABLE ünïcode (id int -- qgen:id
    ,, x);
CREATE TABLE open_end (id int, -- qgen:id
    name text DEFAULT 'never closed
