-- What other tables get of a step is not that of an outcome with its name.
-- qgen:queue
CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=N running=A done=D failed=E
);
CREATE TABLE log (job_id bigint NOT NULL);
