-- A row is there until its job is done; then it is deleted.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id   bigserial PRIMARY KEY,
    data text NOT NULL
);
