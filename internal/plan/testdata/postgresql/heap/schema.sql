-- qgen:queue heap done=delete failed=delete
CREATE TABLE log_lines (
    at      timestamptz NOT NULL DEFAULT now(), -- qgen:order
    line    text NOT NULL,
    holder  uuid                                -- qgen:token
);
CREATE TABLE inbox (at timestamptz NOT NULL, line text);
CREATE TABLE marked (line text NOT NULL, state int NOT NULL DEFAULT 0); -- written when done, which moves the row
CREATE TABLE spread (day date NOT NULL, line text NOT NULL, state int NOT NULL DEFAULT 0) PARTITION BY RANGE (day);
