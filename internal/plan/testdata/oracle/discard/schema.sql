-- How a job ends, the caller says: Complete keeps its row, Discard deletes it.
-- qgen:queue jobs
CREATE TABLE jobs (
    ref      number(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status   number(9) DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=3 done=2 failed=5
    job_data varchar2(200) NOT NULL,
    till     timestamp(6) -- qgen:lease length=5m
);
CREATE TABLE parts (
    job  number(19) NOT NULL,
    body varchar2(200)
);
