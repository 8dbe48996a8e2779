-- A column that may hold any number does not say what a range is divided of.
-- qgen:queue done=delete
CREATE TABLE files (
    id     INTEGER PRIMARY KEY,
    bucket INTEGER -- qgen:shard range
);
