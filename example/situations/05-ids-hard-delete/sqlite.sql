-- A row is there until its job is done; then it is deleted.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id   INTEGER PRIMARY KEY,
    data text NOT NULL
);
