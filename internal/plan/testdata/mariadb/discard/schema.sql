-- How a job ends, the caller says: Complete keeps its row, Discard deletes it.
-- qgen:queue jobs
CREATE TABLE jobs (
    ref      bigint AUTO_INCREMENT PRIMARY KEY,
    status   int DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=3 done=2 failed=5
    job_data varchar(200) NOT NULL,
    till     datetime(6) -- qgen:lease length=5m
);
CREATE TABLE parts (
    job  bigint NOT NULL,
    body varchar(200)
);
