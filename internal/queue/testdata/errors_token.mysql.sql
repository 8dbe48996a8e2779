-- qgen:queue
CREATE TABLE jobs (
    id     bigint NOT NULL PRIMARY KEY,
    status varchar(16) NOT NULL, -- qgen:status ready=ready running=running done=done failed=failed
    token  binary(8)             -- qgen:token
);
