-- Where comments belong. Those without the mark only belong somewhere, they are never loose.
-- qgen:far away from its table

CREATE TABLE one ( -- qgen:behind the parenthesis
    -- qgen:table, since a blank line follows

    -- qgen:first two lines
    -- qgen:first of them
    a int, -- qgen:a
    b int DEFAULT 1 -- qgen:b 1
        NOT NULL -- qgen:b 2
        CHECK (b > 0), -- qgen:b 3
    c int, d int, -- qgen:d
    -- qgen:loose 1

    -- qgen:e above
    e int /* qgen:e inside */ NOT NULL,
    /* qgen:f before */ f text,
    UNIQUE (a, b), -- qgen:loose 2
    -- qgen:loose 3
    CHECK (a > b)
    -- qgen:loose 4
    /* qgen:table before */ ) -- qgen:table behind
    WITH (fillfactor = 70) -- qgen:table options
    ; -- qgen:table end
-- qgen:loose 5
CREATE INDEX one_a ON one (a); -- qgen:loose 6

/* qgen:same line */ CREATE TABLE two (x int, y text); -- qgen:queue two
CREATE TABLE three (z int); CREATE TABLE four (z int); -- qgen:queue four
-- qgen:queue five
-- no annotation here
CREATE TABLE -- qgen:five too
    five -- qgen:five again
    (
    -- qgen:lone
    x int);

-- qgen:above the change
ALTER TABLE two
    -- qgen:above p
    ADD COLUMN p int, -- qgen:behind p
    ADD COLUMN q int -- qgen:in q
        DEFAULT 5, -- qgen:behind q
    DROP COLUMN x; -- qgen:loose 7

CREATE TABLE six (
    x int -- qgen:crlf line
);
CREATE TABLE seven (x int, /* qgen:x */ y int /* qgen:y */); /* qgen:queue
   over lines */ -- qgen:above the next
/* /* qgen:nested */ -- not a comment of its own */
CREATE TABLE eight (x text DEFAULT '-- qgen:string', y text DEFAULT $$ -- qgen:dollar $$);
SELECT '/* qgen:string */';
COMMENT ON TABLE eight IS 'qgen:one';
COMMENT ON TABLE eight IS 'qgen:one'
    ' and two';
COMMENT ON TABLE nine IS 'qgen:' || 'not a literal';
COMMENT ON COLUMN eight.x IS $q$qgen:x$q$;
COMMENT ON COLUMN eight.y IS 'qgen:y';
COMMENT ON COLUMN eight.y IS NULL;
COMMENT ON INDEX one_a IS 'qgen:loose 9';
COMMENT ON COLUMN nowhere.y IS 'qgen:loose 10';
COMMENT ON TABLE nowhere IS 'nothing';
-- qgen:at the end
