-- A log: a number that grows, a line, and nothing else.
-- qgen:queue id=row done=delete failed=keep
CREATE TABLE lines (
    seq  bigint NOT NULL,  -- qgen:order
    line text NOT NULL     -- qgen:payload
);
CREATE INDEX lines_seq ON lines (seq);
