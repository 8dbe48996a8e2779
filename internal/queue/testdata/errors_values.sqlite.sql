-- qgen:queue done=delete
CREATE TABLE vals (
  id INTEGER PRIMARY KEY,
  b  BLOB CHECK (b IN ('x')), -- qgen:status ready=y
  n  INTEGER NOT NULL         -- qgen:status ready=set
);
