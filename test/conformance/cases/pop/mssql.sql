-- Fire and forget: a job that is taken is gone.
-- qgen:queue strategy=pop done=delete failed=delete
CREATE TABLE jobs (
    id bigint IDENTITY NOT NULL PRIMARY KEY,
    n  bigint NOT NULL                                  -- qgen:payload
);
