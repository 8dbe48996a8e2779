-- Fire and forget: a job that is taken is gone.
-- qgen:queue strategy=pop done=delete failed=delete
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    n  INTEGER NOT NULL                              -- qgen:payload
);
