CREATE TABLE jobs (
    id       bigint PRIMARY KEY,
    state    int NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    "a b"    text,
    a_b      text,
    "***"    text
);
CREATE TABLE tasks (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
