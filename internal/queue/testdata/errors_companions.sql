-- qgen:queue
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,             -- qgen:status ready=new running=busy done=sent
    body   text
);
CREATE TABLE parts (
    job_id bigint NOT NULL,
    place  int NOT NULL,
    total  int GENERATED ALWAYS AS (place + 1) STORED,
    at     timestamp,
    noted  int,
    tiny   varchar(3),
    open   boolean
);
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE TABLE a.twice (id bigint);
CREATE TABLE b.twice (id bigint);
CREATE VIEW shown AS SELECT job_id, place FROM parts;
-- qgen:queue
CREATE TABLE ended (
    id    bigserial PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=new running=busy done=done
);
