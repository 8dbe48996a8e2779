-- A log: a number that grows, a line, and nothing else.
-- qgen:queue
CREATE TABLE log_lines (
    seq  bigserial,     -- qgen:seq
    line text NOT NULL  -- qgen:payload
);
CREATE INDEX log_lines_seq ON log_lines (seq);

-- The same where each line tells the transaction that added it.
-- qgen:queue
CREATE TABLE numbered_lines (
    seq      bigserial,                              -- qgen:seq
    line     text NOT NULL,                          -- qgen:payload
    added_by bigint NOT NULL DEFAULT txid_current()
);
CREATE INDEX numbered_lines_seq ON numbered_lines (added_by, seq);
