-- What belongs to a job is added with it, and goes with it.
-- qgen:queue letters
CREATE TABLE letters (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent failed=error
    ended   timestamptz,                 -- qgen:finished also_failed
    address text
);
-- Rows that are only added.
-- qgen:queue events
CREATE TABLE events (
    id   bigserial PRIMARY KEY, -- qgen:seq
    body text NOT NULL
);
-- A claim moves the row.
-- qgen:queue files done=delete
CREATE TABLE files (id bigserial PRIMARY KEY, path text NOT NULL);
CREATE TABLE files_running (id bigint PRIMARY KEY, path text NOT NULL);
CREATE TABLE pages (letter_id bigint NOT NULL, place int NOT NULL);
CREATE TABLE journal (id bigint NOT NULL, at timestamptz NOT NULL, what text);
