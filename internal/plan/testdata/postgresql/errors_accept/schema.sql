CREATE TABLE tasks (
    id     bigint PRIMARY KEY,
    tenant bigint NOT NULL,
    state  int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
-- Nothing is written while a job runs.
CREATE TABLE letters (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
-- A fresh token names a row from its claim on, and nothing before.
CREATE TABLE heap (
    line  text NOT NULL,
    token uuid -- qgen:token
);
CREATE TABLE events (
    id   bigint PRIMARY KEY, -- qgen:seq settle=60s
    at   timestamptz NOT NULL, -- qgen:enqueued
    body text
);
