-- qgen:queue done=delete id=row
CREATE TABLE flat (id TEXT PRIMARY KEY) WITHOUT ROWID;
-- Rows without an id can be in this table, and are never claimed.
-- qgen:queue done=delete
CREATE TABLE nullable (id TEXT PRIMARY KEY, a TEXT);
-- qgen:queue done=delete
CREATE TABLE said (
  a TEXT NOT NULL, -- qgen:id 2
  b TEXT NOT NULL  -- qgen:id 1
);
