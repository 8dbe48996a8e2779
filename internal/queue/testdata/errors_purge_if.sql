CREATE TABLE events (id bigserial PRIMARY KEY);
CREATE TABLE jobs (
    id    bigint PRIMARY KEY, -- qgen:id
    made  timestamptz NOT NULL,
    state text NOT NULL -- qgen:status ready=new running=busy done=done failed=dead
);
CREATE TABLE tasks (
    id   bigint PRIMARY KEY, -- qgen:id
    made timestamptz NOT NULL
);
CREATE TABLE files (
    id   bigint PRIMARY KEY, -- qgen:id
    made timestamptz NOT NULL
);
CREATE TABLE files_taken (
    id   bigint PRIMARY KEY,
    made timestamptz NOT NULL
);
CREATE TABLE parts (id bigint PRIMARY KEY);
