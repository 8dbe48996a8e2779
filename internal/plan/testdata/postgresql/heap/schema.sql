-- qgen:queue heap done=delete failed=delete
CREATE TABLE log_lines (
    at      timestamptz NOT NULL DEFAULT now(), -- qgen:order
    line    text NOT NULL,
    holder  uuid                                -- qgen:token
);
CREATE TABLE inbox (at timestamptz NOT NULL, line text);
