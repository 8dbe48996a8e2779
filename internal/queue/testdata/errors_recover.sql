CREATE TABLE jobs (id bigint PRIMARY KEY, s text);
CREATE TABLE broken (id bigint PRIMARY KEY, s text,,);
CREATE TABLE t01 (id int); CREATE TABLE t02 (id int); CREATE TABLE t03 (id int); CREATE TABLE t04 (id int);
CREATE TABLE t05 (id int); CREATE TABLE t06 (id int); CREATE TABLE t07 (id int); CREATE TABLE t08 (id int);
CREATE TABLE t09 (id int); CREATE TABLE t10 (id int); CREATE TABLE t11 (id int); CREATE TABLE t12 (id int);
CREATE TABLE taken AS SELECT 1 AS id;
