-- Nothing to write while a job runs: the row lock is the claim, and what is done goes away.
-- qgen:queue done=delete failed=delete
CREATE TABLE jobs (
    id bigint IDENTITY NOT NULL PRIMARY KEY,
    n  bigint NOT NULL                                  -- qgen:payload
);
