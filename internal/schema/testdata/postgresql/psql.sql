\set ON_ERROR_STOP on
\restrict abc'def
SET standard_conforming_strings = on;
COPY public.jobs (id, body) FROM stdin;
1	'unbalanced; CREATE TABLE no (id int); -- qgen:no
2	$$
\.

\copy other from stdin
CREATE TABLE nor_this (id int);
\.
SELECT 1 \gset
CREATE TABLE yes (
    id int, \echo in the middle
    name text -- qgen:payload
);
SELECT 1 \; SELECT 2;
\unrestrict abc'def
