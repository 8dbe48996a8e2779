-- Without an index in the order of the queue the server would sort, and lock, all ready rows: a claim
-- finds them without locks first.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state varchar(9) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    grade int NOT NULL,                      -- qgen:priority asc
    mark  binary(16) NULL,                   -- qgen:token
    KEY jobs_state (state)
);
-- A key that only annotations say.
-- qgen:queue lines
CREATE TABLE lines_ (
    number bigint NOT NULL, -- qgen:id
    state  char(1) NOT NULL -- qgen:status ready=N running=A done=C
);
