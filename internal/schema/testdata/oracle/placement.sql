rem qgen:queue a
CREATE TABLE a ( -- qgen:a too
  -- qgen:first
  id NUMBER PRIMARY KEY, -- qgen:id
  n VARCHAR2(10), /* qgen:n */
  /* qgen:m
     on two lines */
  m VARCHAR2(10) DEFAULT '-- qgen:string', o VARCHAR2(10) -- qgen:o
    DEFAULT q'[it's -- qgen:string too]',
  -- qgen:loose 1
  UNIQUE (n) -- qgen:loose 2
) -- qgen:behind
TABLESPACE users; -- qgen:end
COMMENT ON TABLE a IS 'qgen:stored';
COMMENT ON COLUMN a.m IS 'it''s qgen:m inexact';
COMMENT ON COLUMN scott.a.o IS q'[it's qgen:o exact]';
comment on column "A"."N" is n'qgen:n stored';
COMMENT ON COLUMN a.id IS 'replaced';
COMMENT ON COLUMN a.id IS 'nothing of ours';
COMMENT ON COLUMN a.o IS '';
COMMENT ON TABLE nowhere IS 'qgen:loose 3';
COMMENT ON COLUMN a.nothing IS 'qgen:loose 4';
COMMENT ON TABLE nowhere IS 'nothing of ours';
COMMENT ON MATERIALIZED VIEW a IS 'not read';
REMARK qgen:queue b
CREATE TABLE b (x NUMBER, y NUMBER CHECK (y > 5--1
)); /* qgen:queue b too */
-- qgen:worker
ALTER TABLE b ADD worker VARCHAR2(30); -- qgen:worker too
ALTER TABLE b ADD (
  -- qgen:one
  one NUMBER, -- qgen:one too
  two NUMBER -- qgen:two
);
ALTER TABLE b MODIFY x NOT NULL; -- qgen:x
ALTER TABLE b MODIFY (
  one DEFAULT 1, -- qgen:one three
  two NUMBER(5) -- qgen:two too
)
/
-- qgen:queue c
create table c (id number) -- qgen:c
/
-- qgen:loose 5
/
CREATE TABLE d (id NUMBER /* qgen:id */ PRIMARY KEY) /* qgen:queue d */;
/* qgen:unfinished
