CREATE TABLE jobs (id bigint PRIMARY KEY);
CREATE TABLE more (id bigint PRIMARY KEY);
