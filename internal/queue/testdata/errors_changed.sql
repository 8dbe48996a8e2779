-- Rows that stay as they are but for what on done says.
CREATE TABLE jobs (
    id       bigserial PRIMARY KEY,
    priority int NOT NULL DEFAULT 0
);
CREATE TABLE answers (id bigint NOT NULL, grade int);
CREATE TABLE seen (job_id bigint NOT NULL);
