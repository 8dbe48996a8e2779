CREATE TABLE skipped (id int,, name text)
-- qgen:queue bad
CREATE TABLE bad (id int, name text NOT)
CREATE TABLE good (id int) -- qgen:queue good
ALTER TABLE Good ADD
ALTER TABLE unknown ADD x
ALTER TABLE later ADD x int
CREATE TABLE dbo.later (id int)
CREATE TABLE GOOD (id int, x text)
CREATE TABLE two_names (id int, [ID] text)
ALTER TABLE good ADD Id int
CREATE TABLE no_such (id int, PRIMARY KEY (other)) -- qgen:queue no_such
CREATE TABLE #brief (id int) -- qgen:queue brief
CREATE TABLE [##brief] (id int) -- qgen:queue brief
CREATE TABLE made WITH (HEAP) AS SELECT 1 + 1 -- qgen:queue made
CREATE TABLE typo (id int primry KEY) -- qgen:queue typo
CREATE TABLE typo2 (id int PRIMARY, n int) -- qgen:queue typo2
CREATE TABLE typo3 (id PRIMARY KEY) -- qgen:queue typo3
CREATE TABLE typo4 (id int) -- qgen:queue typo4
ALTER TABLE typo4 ADD CONSTRAINT c CHEK (id > 1)
ALTER TABLE typo4 ALTER COLUMN nothing int
ALTER TABLE typo4 DROP COLUMN neither, CONSTRAINT none
EXEC sp_rename 'typo4.no', 'yes', 'COLUMN'
EXEC sp_rename 'later2.no', 'yes', 'COLUMN'
CREATE TABLE later2 (yes int)
CREATE INDEX ON typo4 (id)
CREATE INDEX i ON typo4 (id,)
CREATE INDEX i ON typo4 (nothing)
CREATE INDEX i ON typo4 (id) NONSENSE
CREATE INDEX i ON typo4 (id) WHERE
CREATE INDEX i ON nowhere (id) NONSENSE
CREATE CLUSTERED COLUMNSTORE INDEX i ON typo4 NONSENSE
CREATE TABLE typo5 (id int) NONSENSE = 1 -- qgen:queue typo5
CREATE TABLE typo6 (id int, PRIMARY KEY) -- qgen:queue typo6
CREATE TABLE typo7 (id int, INDEX i) -- qgen:queue typo7
CREATE TABLE typo8 (id int DEFAULT, n int) -- qgen:queue typo8
CREATE TABLE typo9 (id int COLLATE) -- qgen:queue typo9
CREATE TABLE typo10 (id int, FOREIGN KEY (id) nowhere (id)) -- qgen:queue typo10
CREATE TABLE typo11 (id int, c AS CASE WHEN id = 1 THEN 2) -- qgen:queue typo11
CREATE TABLE typo12 (id int)) ON [PRIMARY] -- qgen:queue typo12
CREATE TABLE typo13 (id int, INDEX k (id) (id)) -- qgen:queue typo13
CREATE TABLE 'typo14' (id int) -- qgen:queue typo14
CREATE TABLE typo15 (id int, PRIMARY (id)) -- qgen:queue typo15
CREATE TABLE typo16 (id int CHECK id > 0) -- qgen:queue typo16
CREATE TABLE typo17 (id int) ON -- qgen:queue typo17
CREATE TABLE typo18 (id int CONSTRAINT, CONSTRAINT x id) -- qgen:queue typo18
CREATE TABLE typo19 (id int CONSTRAINT x IDENTITY) -- qgen:queue typo19
CREATE TABLE typo20 (id int DEFAULT NOT NULL) -- qgen:queue typo20
CREATE TABLE typo21 (id AS CAST(1 AS)) -- qgen:queue typo21
CREATE TABLE typo22 (id int) WITH DATA_COMPRESSION = PAGE -- qgen:queue typo22
CREATE TABLE typo23 (id int AUTO_INCREMENT) -- qgen:queue typo23
CREATE TABLE typo24 (id int, CONSTRAINT c UNIQUE (id) name int) -- qgen:queue typo24
CREATE TABLE typo25 (id int -- qgen:queue typo25
CREATE TABLE ünïcode (id int,, x int)
ALTER TABLE good ADD x int, y int,
CREATE TABLE filed AS FILETABLE -- qgen:queue filed
CREATE TABLE still_read (id int) -- qgen:id
GO
GO; -- what clients do not take for the end of a batch
CREATE TABLE open_end (id int, -- qgen:id
    [name text
