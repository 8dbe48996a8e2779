-- The content of a job stands in another table, and is not there for every job.
CREATE TABLE bodies (
    job_n   bigint NOT NULL,
    kind    int NOT NULL,
    body    text NOT NULL,
    made_at timestamptz,
    status  text NOT NULL,
    PRIMARY KEY (job_n, kind)
);

-- qgen:queue strategy=pop done=delete failed=delete
CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    n  bigint NOT NULL                               -- qgen:payload
);
