/* qgen:queue a */
CREATE TABLE [a] ( -- qgen:a too
  -- qgen:first
  [id] INT PRIMARY KEY, -- qgen:id
  n VARCHAR(10), /* qgen:n too */
  -- qgen:above constraint
  CONSTRAINT df UNIQUE (n), -- qgen:loose 1
  o VARCHAR(10) -- qgen:o
) -- qgen:behind
ON [PRIMARY]; -- qgen:end
CREATE TABLE b (x INT, y INT CHECK (y > 5--1
)) /* qgen:queue b */
-- qgen:worker
ALTER TABLE b ADD worker nvarchar(9) DEFAULT ('-- qgen:string') -- qgen:worker too
ALTER TABLE b ADD later nvarchar(9), -- qgen:later
    -- qgen:latest
    latest int, /* qgen:latest too */ last int
; -- qgen:last
ALTER TABLE b ALTER COLUMN x BIGINT NOT NULL -- qgen:x
GO -- qgen:loose 2

-- qgen:loose 3

-- qgen:queue c
IF OBJECT_ID('c') IS NULL -- qgen:c too
BEGIN -- qgen:c three
    -- qgen:c four
    CREATE TABLE c (
        id int -- qgen:id
    )
    -- qgen:loose 4

END -- qgen:loose 5
IF OBJECT_ID('d') IS NULL
    -- qgen:queue d
    CREATE TABLE d (id int)
ELSE
    -- qgen:d never
    ALTER TABLE d ADD x int
-- qgen:loose 6
SELECT 1 -- qgen:loose 7
DECLARE @t TABLE (id int) -- qgen:loose 8
GO
-- qgen:loose 9
GO
/* qgen:unfinished /* nested */
