-- A log: a number that grows, a line, and nothing else.
-- qgen:queue
CREATE TABLE log_lines (
    seq  INTEGER PRIMARY KEY, -- qgen:seq
    line text NOT NULL        -- qgen:payload
);
