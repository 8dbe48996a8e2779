-- A script that takes away older tables first.
ALTER TABLE IF EXISTS jobs DROP CONSTRAINT fk_jobs;
ALTER TABLE public.parts DROP CONSTRAINT fk_parts;
DROP TABLE IF EXISTS jobs;
DROP TABLE public.parts CASCADE;
CREATE TABLE jobs (id int PRIMARY KEY);
CREATE TABLE public.parts (id int PRIMARY KEY);
