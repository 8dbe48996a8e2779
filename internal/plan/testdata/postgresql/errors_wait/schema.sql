-- Workers that wait for rows of others would stand in line.
CREATE TABLE jobs (
    id       bigint PRIMARY KEY,
    host     varchar(40) NOT NULL,
    state    int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
-- Two columns name a row.
CREATE TABLE parts (
    job   bigint NOT NULL, -- qgen:topic
    part  int NOT NULL,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    PRIMARY KEY (job, part)
);
-- A unique key names a row as well, and so does an argument.
-- qgen:queue locked=wait
CREATE TABLE letters (
    id    bigint PRIMARY KEY,
    ref   text NOT NULL UNIQUE, -- qgen:topic
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
-- qgen:queue locked=wait
-- qgen:where "id = {arg:id int64}"
CREATE TABLE parcels (
    id    bigint PRIMARY KEY,
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0|3 running=1 done=2
);
-- qgen:queue locked=wait
CREATE TABLE held (
    id    bigint PRIMARY KEY, -- qgen:topic
    state int NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
CREATE TABLE events (
    id   bigint PRIMARY KEY, -- qgen:seq settle=60s
    at   timestamptz NOT NULL, -- qgen:enqueued
    body text
);
-- A claim moves the row.
-- qgen:queue files done=delete locked=wait
CREATE TABLE files (
    id   bigint PRIMARY KEY, -- qgen:topic
    path text NOT NULL
);
CREATE TABLE files_taken (
    id   bigint PRIMARY KEY,
    path text NOT NULL,
    till timestamptz NOT NULL -- qgen:lease length=5m
);
