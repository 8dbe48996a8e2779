-- A table that may not be altered: it has no status, and what is done goes away. Claims
-- are held in a table beside it.
-- qgen:queue done=delete
CREATE TABLE jobs (
    id integer PRIMARY KEY AUTOINCREMENT,
    n  integer NOT NULL                              -- qgen:payload
);
