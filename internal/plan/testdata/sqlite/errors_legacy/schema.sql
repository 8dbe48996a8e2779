-- qgen:queue
CREATE TABLE jobs (
    id    int PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=C
);
