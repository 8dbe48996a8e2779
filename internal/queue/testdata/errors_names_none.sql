CREATE TABLE job_7 (id bigint PRIMARY KEY, state text NOT NULL);
