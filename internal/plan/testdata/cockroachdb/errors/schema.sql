-- qgen:queue
CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D
    body  text NOT NULL
);
