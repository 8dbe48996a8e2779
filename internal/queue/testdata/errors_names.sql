-- qgen:queue table='job_{{.Shard}}'
CREATE TABLE Job_7 (id bigint PRIMARY KEY, state text NOT NULL);

CREATE TABLE body_8 (id bigint PRIMARY KEY, body text);
CREATE TABLE body_7 (id bigint PRIMARY KEY, body text);
