-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    body  text,
    flag  int NOT NULL,
    score jsonb -- qgen:result
);
CREATE TABLE arch (id bigint PRIMARY KEY, body jsonb, flag boolean, score int);
